"""Validated knowledge bases and the queries that are asked of them."""
