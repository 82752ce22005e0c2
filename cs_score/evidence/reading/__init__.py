"""Reading gold and predictions."""
