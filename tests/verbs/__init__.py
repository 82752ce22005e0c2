"""The tests of the slices, a folder for each."""
