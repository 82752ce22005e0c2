"""The Cold Start scorer's command line."""
