"""Why single lines, classes, nodes and queries scored as they did: `document` has what is said of them, as records with
their text, `case` a scored run with what is looked up in it, `explanation` one function for each kind of subject.
"""
