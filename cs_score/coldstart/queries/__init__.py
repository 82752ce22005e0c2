"""Queries: identifiers, slots, query files, expansion, selection, languages."""
