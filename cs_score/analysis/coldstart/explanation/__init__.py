"""Why single lines, classes, nodes and queries scored as they did (insight specification 3).

`facts` are what an explanation says, as records; `case` is a scored run with what is looked up in it; `steps` and
`counting` explain a line, `subjects` everything else; `explanation` is what was asked for, `text` shows it.
"""
