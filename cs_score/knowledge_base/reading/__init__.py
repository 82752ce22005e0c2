"""From the lines of a file to assertions, one after the other."""
