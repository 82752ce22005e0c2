"""The names and meanings of all measures, and the arithmetic of scores; all other packages use it."""
