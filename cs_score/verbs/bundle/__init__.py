"""Bundles for evaluation platforms: a scorer with its wheels and gold, packed for Codabench or EvalAI."""
