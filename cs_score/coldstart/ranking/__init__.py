"""Nodes ranked by confidence, and their average precision."""
