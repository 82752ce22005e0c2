"""What every room stands on: errors, inputs and outputs, display, processes, signatures."""
