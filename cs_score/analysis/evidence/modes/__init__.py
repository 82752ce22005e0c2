"""What is wrong in the predictions of each mode, and what they are without it."""
