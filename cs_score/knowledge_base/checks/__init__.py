"""What only a whole knowledge base can tell: contradictions, what is missing, and what is added for that."""
