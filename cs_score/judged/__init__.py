"""Judged answers: tables that somebody has labelled, what labels count under a policy, and how units are counted."""
