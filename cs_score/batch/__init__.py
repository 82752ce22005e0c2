"""Many runs against one gold standard: gold is prepared once, and each run is scored as if it were alone.

`plan` says what there is to score, without knowing where it is computed (`coldstart`, `evidence`); `execution` hands
tasks to this process, a pool of processes or a Dask cluster; `store` keeps the output folder in order; outcomes become
a `leaderboard` and an `overview`.
"""
