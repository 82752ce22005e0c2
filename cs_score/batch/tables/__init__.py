"""Tables over all runs."""
