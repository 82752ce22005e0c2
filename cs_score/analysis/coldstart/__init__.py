"""Why a Cold Start run scored what it did: exact what-ifs, what they cost, groups, bounds, confidences.

`scored`         a run with all that analyses are made of
`files`          the files of a run line by line: what is left of them when lines go
`dependents`     which lines go with a line
`found`          the lines that find a class
`changes`        a change to a run, as lines removed and added
`rescoring`      the units that a change reaches, scored again
`recombination`  measures from what each unit adds to them
`effects`        the difference that a change makes
"""
