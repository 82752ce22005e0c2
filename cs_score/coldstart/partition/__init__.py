"""How a large run is cut by queries and spread over processes."""
