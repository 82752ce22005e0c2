"""Cold Start runs in the public API: gold, results scored and stored, records."""
