"""Why a Cold Start run scored what it did.

`scored`       a scored run with everything that its analyses are made of
`run_files`, `changes`  the files of a run, and changes to them
`rescoring`, `removals`, `effects`  what such changes would make of its scores
`faults`, `mistakes`, `budget`  what is wrong in a run, and what that costs, one by one and by kind
`counted_table`, `groups`, `confusions`  what a table counts, by groups; what wrong lines give instead
`scenarios`, `optimistic`, `policies`, `sweep`, `reliability`  the other sections of an analysis
`analysis`     all sections together
`difference`, `difference_groups`, `edition_rules`  why two runs differ, and which rule of an edition makes them differ
`layouts`, `texts`  how analyses and differences are shown
`task`         all of it under the names that all tasks have
`explanation`  how one line, class, node or query came to score what it did
"""
