"""What `batch` writes about many runs, invented, with every part."""

from __future__ import annotations

from typing import Any

from tests.report.analyses import MEASURE

UNITS = ("CS17_0000001", "CS17_0000002", "CS17_0000003", "CS17_0000004")


def batch(text: str = "alpha", *, pages: bool = True) -> dict[str, Any]:
    """Three runs under two policies, and one that failed; `text` stands where a file fills something."""
    names = (text, "beta", "gamma")
    policies = ("strict", text)
    interval = {"low": 0.25, "high": 0.75}
    return {
        "kind": "batch",
        "schema_version": 3,
        "task": "coldstart",
        "measure": MEASURE,
        "unit": "LDC query",
        "unit_measure": MEASURE,
        "policies": [*policies],
        "bootstrap": {"resamples": 100, "seed": 0, "confidence": 95.0, "method": "percentile", "unit": "LDC query"},
        "pages": pages,
        "runs": [{"run": name, "run_id": text} for name in names],
        "leaderboard": [
            *(
                {
                    "policy": policy, "rank": at + 1, "run": name, "run_id": text, "score": 0.5 - at / 8,
                    "interval": interval, "tier": at // 2 + 1, "p_above": at / 10 if at else None,
                }
                for policy in policies for at, name in enumerate(names)
            ),
            {
                "policy": "strict", "rank": None, "run": "broken", "run_id": "", "score": None, "interval": None,
                "tier": None, "p_above": None,
            },
        ],
        "queries": [
            {"policy": policy, "unit": f"{unit}{text}", "scores": [at / 4, None, 1 / 3]}
            for policy in policies for at, unit in enumerate(UNITS)
        ],
        "answers": [
            {"policy": policy, "part": "class", "total": 9, "found_by": [4, 3, 2, 0], "only": [2, 1, 0]}
            for policy in policies
        ],
        "agreement": [
            {
                "policy": policy,
                "pairs": [
                    {"a": a, "b": b, "right": (a + b) / 4, "wrong": None} for a, b in ((0, 1), (0, 2), (1, 2))
                ],
                "union": {"scores": {"SF-ALL-Micro-F1": 0.75}},
                "systems": [
                    {"part": "class", "systems": k, "recall": 0.3 + k / 10, "agreed": 0.6 - k / 10} for k in (1, 2, 3)
                ],
            }
            for policy in policies
        ],
        "stability": {
            "pairs": [
                {"a": {"measure": MEASURE, "policy": "strict"}, "b": {"measure": "SF-AP", "policy": policy},
                 "tau": -1 / 3, "interval": {"low": -1.0, "high": 0.5}}
                for policy in policies
            ],
            "first": [{"measure": MEASURE, "policy": policy, "runs": [0, 2], "changes": 0.25} for policy in policies],
        },
    }  # fmt: skip
