"""What all other rooms use: errors, inputs and outputs, display, processes, signatures."""
