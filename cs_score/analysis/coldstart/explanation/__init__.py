"""Why single things scored as they did: a line, a class, a node, a query (insight specification 3).

`facts`      what is told, as values
`case`       a scored run with what explanations look up in it
`steps`      the steps of a line, each from the rules of the scorer
`explanation`  everything that was asked for; `text` shows it
"""
