"""Tables: a layout says what stands where, the renderers how it looks."""
