"""What cs-score costs: time, memory and growth, measured on inputs made here. Run `python -m benchmarks`."""
