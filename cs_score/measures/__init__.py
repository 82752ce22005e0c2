"""What a score is called and how it is computed; every room asks here."""
