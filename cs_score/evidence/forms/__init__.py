"""Recognises the forms in which people have gold and predictions. It is loaded only when a file is refused."""
