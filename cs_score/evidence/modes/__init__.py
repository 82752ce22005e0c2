"""One module for each task, with its measures and its explanation."""
