"""Which assessment a response has, the class it stands in, and what the policies make of it."""
