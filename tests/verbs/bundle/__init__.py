"""Bundles for evaluation platforms, and what participants of a closed evaluation may see."""
