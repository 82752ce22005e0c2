"""The programs from a knowledge base to a run."""
