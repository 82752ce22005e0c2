"""Resampling statistics over matrices of sufficient statistics; knows nothing of any task.

A task reduces a run to one row of sums per *unit* - a claim, an instance, a question, a query - such that every
measure is a formula of the column sums. Intervals, tests and rankings are then arithmetic on that matrix:

    units x statistics --draws--> resampled sums --formula--> resampled scores --> intervals, p-values, ranks

**What may be a row.** Resampling draws whole units with replacement, as if another test set had been collected. The
score of a resample must be the score that the formula gives to the drawn units, each taken as often as it was drawn.
For counts that holds by linearity. It holds as well after any reduction, however non-linear, *that looks at nothing
outside its unit*: the reduced row of a unit is the same in every resample that contains the unit. Cold Start is the
case in point: its unit is one LDC query with all its entry points, and both LDC-MAX (the counts of the entry point with
the highest F1) and LDC-MEAN decide from the rows of that query alone. A measure that ranks or normalises across units
has no such row.

Sources: B. Efron and R. J. Tibshirani, *An Introduction to the Bootstrap*, 1993 (percentile interval, ch. 13; BCa,
ch. 14; tests, ch. 16). B. Efron, "Better bootstrap confidence intervals", JASA 82, 1987 (BCa). E. W. Noreen,
*Computer-Intensive Methods for Testing Hypotheses*, 1989 (approximate randomisation). P. Koehn, "Statistical
significance tests for machine translation evaluation", EMNLP 2004 (paired bootstrap over test sets). T.
Berg-Kirkpatrick, D. Burkett and D. Klein, "An empirical investigation of statistical significance in NLP", EMNLP 2012
(the shifted paired bootstrap). J. W. Tukey, *The problem of multiple comparisons*, 1953 (honestly significant
difference). B. Carterette, "Multiple testing in statistical analysis of systems-based information retrieval
experiments", ACM TOIS 30, 2012 (its randomisation). S. Holm, "A simple sequentially rejective multiple test
procedure", Scand. J. Statistics 6, 1979. B. Phipson and G. K. Smyth, "Permutation p-values should never be zero",
Stat. Appl. Genet. Mol. Biol. 9, 2010 (add-one).
"""
