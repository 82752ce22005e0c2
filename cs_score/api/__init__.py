"""The public Python API: `cs_score` has its names, and loads a module of it when one of its names is first used."""
