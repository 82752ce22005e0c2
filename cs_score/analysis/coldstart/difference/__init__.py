"""Why one Cold Start run scores higher than another (insight specification 5)."""
