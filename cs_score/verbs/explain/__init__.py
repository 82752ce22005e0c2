"""Explanations: how one line, node, class, query or unit was scored."""
