"""Results recorded as JSON: read with care, their inputs found again, scored again, held against each other."""
