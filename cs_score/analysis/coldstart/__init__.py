"""Why a Cold Start run scored what it did.

`scored`       a run with all that analyses are made of
`changes`, `rescoring`, `effects`  what changes to its files would make of its scores
`mistakes`     what they cost, one by one and by kind
`groups`, `confidence`, `scenarios`  the other sections of an analysis
`analysis`     all sections together; `tables` and `text` show it
`difference`   why two runs differ, `rules` which rule of an edition makes them; `difference_text` shows it
`explanation`  how one line, class, node or query came to score what it did
"""
