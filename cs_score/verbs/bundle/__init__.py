"""Bundles: a scorer for Codabench or EvalAI."""
