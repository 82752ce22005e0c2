"""What a change to the files of a run would make of its scores, without writing or reading any file.

`files`          the files of a run line by line: what can be read of them when lines go
`dependents`     which lines go with a line
`found`          the lines that find a class
`change`         a change, as lines deleted and appended
`relinking`      lines linked anew where others are gone
`rescoring`      the units that a change reaches, scored again
`recombination`  measures from what each unit adds to them
`effects`        the difference that a change makes
"""
