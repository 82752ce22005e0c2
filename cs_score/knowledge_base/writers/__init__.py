"""The formats that a validated knowledge base is written in, one module each."""
