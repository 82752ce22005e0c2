"""Studies: what test sets, pools and assessors can show."""
