"""What many runs tell together: which answers are found by how many, who agrees, which ranks are firm.

from cs_score.analysis.many.agreement import recall_by_systems
from cs_score.analysis.many.kendall import tau_b
"""
