"""Why a Cold Start run scored what it did.

`scored`       a run with all that analyses are made of
`changes`, `effects`  what changes to its files would make of its scores
`mistakes`     what they cost, one by one and by kind
`groups`, `confidence`, `scenarios`  the other sections of an analysis
`analysis`     all sections together
`difference`   why two runs differ, and which rule of an edition makes them
`task`         all of it under the names that all tasks have, and how it is shown
`explanation`  how one line, class, node or query came to score what it did
"""
