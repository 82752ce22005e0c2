"""What is told of classes, nodes, queries, and of the run as a whole."""
