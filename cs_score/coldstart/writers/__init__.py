"""One module per output: a result goes in, text comes out; nothing is computed here."""
