"""Why an evidence mode's score is what it is: mistakes with their exact effects, an error budget, groups, differences.

Everything is a pure function of a scored result, which holds its gold and its predictions. A change replaces one unit's
prediction and nothing else, so that its effect is found by scoring that unit again.
"""
