"""The sections of an analysis, a module each (insight specification 4)."""
