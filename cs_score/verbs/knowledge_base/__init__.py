"""Knowledge bases on their way to a score: validated, and asked the queries of an evaluation."""
