"""Evidence modes: the official measures of SciFact, claim verification, R4C and HotpotQA."""
