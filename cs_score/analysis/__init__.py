"""What results say beside each other."""
