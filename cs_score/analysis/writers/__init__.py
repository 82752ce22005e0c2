"""An analysis as text, as JSON, and as tables separated by tabs; writers only read it."""
