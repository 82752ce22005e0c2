"""Lines of runs and assessments: layouts, reading, provenance, confidence, linking, limits."""
