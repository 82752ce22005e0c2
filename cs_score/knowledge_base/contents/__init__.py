"""What a knowledge base holds: nodes, assertions, predicates, provenances."""
