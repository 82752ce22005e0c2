"""Why a Cold Start run scored what it did.

`scored`    a run with all that analyses are made of
`whatif`    what changes to its files would make of its scores
`sections`  mistakes and what they cost, the error budget
`analysis`  all sections together
`tables`, `text`  an analysis as tables and as text
"""
