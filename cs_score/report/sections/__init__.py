"""The sections of a page, each made of one part of the JSON of an analysis or a difference."""
