"""Why single lines, classes, nodes and queries scored as they did.

`document` is what is said of a line, as records with their text, and `subjects` of everything else; `case` is a scored
run with what is looked up in it; `steps` and `counting` explain a line; `explanation` is what was asked for.
"""
