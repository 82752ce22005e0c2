"""Results that were recorded as JSON: read with care, their inputs found again, scored again, held against each other.

`told`          values of a JSON file that anybody may have written, looked at one by one
`recorded`      what kind of result a file records, and what it was computed from
`inputs`        files that have the recorded contents
`rescoring`     single results computed again; `batches` those of a batch
`whole_batch`   the analyses over all runs of a batch, computed again
`differences`   which value differs
`verifying`     all of it
"""
