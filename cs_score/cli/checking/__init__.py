"""Commands that hold results against what was recorded of them."""
