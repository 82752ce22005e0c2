"""Why single lines, classes, nodes and queries scored as they did.

`document`     what an explanation says, as records with their text
`indexed_run`  a scored run with everything that explanations look up in it
`nearness`, `arithmetic`  assessments near to a line; scores with their arithmetic
`line_steps`, `categories`  the steps of a line
`subjects`     classes, nodes, queries and the run as a whole
`selectors`    what a command line asks for
`explanation`  all of it for what was asked for
`everything`   all of it for an analysis
"""
