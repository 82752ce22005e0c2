"""Forms in which people have gold and predictions, told apart from those that a task reads; only failures load it."""
