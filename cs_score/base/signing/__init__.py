"""What scores were computed from, in full and as one line."""
