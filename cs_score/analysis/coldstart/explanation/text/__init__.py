"""Explanations as text for people."""
