"""Knowledge bases: from a knowledge base to a run."""
