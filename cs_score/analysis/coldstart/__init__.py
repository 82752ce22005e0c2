"""Why a Cold Start run scored what it did.

`scored`       a scored run with everything that its analyses are made of
`run_files`, `changes`  the files of a run, and changes to them
`rescoring`, `removals`, `effects`  what such changes would make of its scores
`faults`, `mistakes`, `budget`  what is wrong in a run, and what that costs, one by one and by kind
`counted_table`, `groups`, `confusions`  what a table counts, by groups; what wrong lines give instead
`scenarios`, `optimistic`  the scores if all answers that nobody assessed were wrong, or right
`task`         the measures of runs, and the statistics that comparisons need
"""
