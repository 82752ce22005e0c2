"""What many runs show together: which answers are found by how many, who agrees, which ranks are firm."""
