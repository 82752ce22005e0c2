"""What a batch is to do: inputs, runs, policies."""
