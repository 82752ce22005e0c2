"""Many runs against one gold standard: what is prepared once is shared, each run is scored as if it were alone.

`scoring` describes what there is to score, without knowing where it is computed; `tasks` is what a worker does;
`execution` hands tasks to an executor (`executors`: this process, a pool of processes, a Dask cluster); `state` and
`lock` keep an output folder whole; `leaderboard` and `problem_table` are made from the outcomes.
"""
