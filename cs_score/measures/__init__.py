"""What a score is called and how it is computed; every room asks here. Loads no numpy.

`formulas`  the arithmetic of scores, for numbers and for arrays alike
`measure`   a measure as a value that prints as its one name
`registry`  the table of all measures, and the search in it
"""
