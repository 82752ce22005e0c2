"""Why an evidence mode's score is what it is: pure functions of a scored result."""
