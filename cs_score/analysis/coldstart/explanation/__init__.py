"""Why single lines, classes, nodes and queries scored as they did.

`document` has what is said of them, as records with their text, `case` a scored run with what is looked up in it;
`subjects` explains lines, classes, nodes and queries, `explanation` those that were asked for.
"""
