"""Limits that a score has to keep, for continuous integration.

`limits`    what is asked of a measure
`measured`  a result as limits look at it, just computed or recorded as JSON
`judging`   which limits are kept
`writers`   the judgement as text, JSON, JUnit XML and annotations
"""
