"""The output folder: state, lock, outcomes."""
