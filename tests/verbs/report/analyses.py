"""Analyses as `analyze --json` writes them: invented ones with every part, and one whose every text is hostile."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any, Final

from lxml import html

from cs_score.base.display import one_line
from tests.coldstart.command import Outcome, score_in

HOSTILE: Final = '</script><img src=x onerror="window.taken=1">\u202e\x07<b style="color:red">&amp;\'=1'
"""What breaks out of a script, an attribute, an element, the direction of text, a terminal, a spreadsheet."""

SHOWN: Final = HOSTILE.replace("\u202e", "\\u202e").replace("\x07", "\\x07")
"""The same as people are to see it."""

MEASURE: Final = "LDC-MEAN-ALL-Macro-F1"
SLOTS: Final = ("per:children", "per:siblings", "org:founded_by", "gpe:births_in_city")


def analysis(mistakes: int = 120, text: str = "Bo") -> dict[str, Any]:
    """An analysis of a Cold Start run with so many mistakes; `text` stands in every field that a file fills."""
    rows = [_mistake(at, text) for at in range(mistakes)]
    return {
        "kind": "analysis",
        "schema_version": 3,
        "task": "coldstart",
        "measure": MEASURE,
        "run": text,
        "score": 0.4375,
        "scores": {MEASURE: 0.4375, f"{MEASURE}@0": 0.5, f"{MEASURE}@1": 1 / 3, "SF-ALL-Micro-P": 2 / 7, "SF-AP": 0.2},
        "signature": f"{MEASURE}|kb|1:3|gold:aeae9314|run:db75ecd6|cs-score:0.2.0",
        "origin": {
            "tool": "cs-score",
            "version": "0.2.0",
            "task": "coldstart",
            "settings": ["kb", "1:3"],
            "options": {
                "discipline": "ASSESSED", "expand": None, "justifications": "1:3", "right": ["CORRECT"],
                "wrong": ["INCORRECT"], "ignore": ["UNASSESSED"], "queries": None, "runids": None, "samples": None,
            },
            "inputs": [
                {"role": role, "name": name, "sha256": f"{at}" * 64}
                for at, (role, name) in enumerate((("queries", "q.xml"), ("run", text), ("pool", "pool.tab")))
            ],
        },
        "added_to": text,
        "mistake_count": mistakes,
        "mistakes": rows,
        "budget": [
            _budget("incorrect", sum(row["category"] == "INCORRECT" for row in rows), 0.0625, 0.5),
            _budget("duplicate", 0, -0.03125, 0.5),
            _budget("missed", sum(row["category"] == "MISSED" for row in rows), 0.25, 1.0),
        ],
        "structure": {"merged_nodes": 1, "split_classes": 2, "discarded_lines": 0},
        "groups": {
            "slot": [_group(text if at == 0 else slot, at) for at, slot in enumerate(SLOTS)],
            "hop": [_group(str(hop), hop) for hop in (0, 1)],
        },
        "table": "SF",
        "confusions": {
            "slots": [{"slot": text, "category": "INCORRECT", "count": 3}],
            "wrong_values": [{"slot": text, "value": text, "count": 2}],
            "near": [
                {"category": "INCORRECT", "lines": 3, "same_place": 1, "same_place_accepted": 0, "same_value": 2,
                 "same_value_accepted": 1},
            ],
        },
        "reliability": {
            "lines": 20,
            "bins": [
                {"lines": 2, "low": at / 10, "high": at / 10 + 0.05, "confidence": at / 10 + 0.025, "right": at / 10}
                for at in range(10)
            ],
            "brier": 0.25, "ece": 0.025, "auc": None,
        },
        "sweep": [
            {"threshold": at / 10, "precision": 0.3 + at / 20, "recall": 0.9 - at / 12, "f1": 0.5, "lines": 40 - at,
             "gain": at / 100}
            for at in range(10)
        ],
        "best": {"threshold": 0.4, "gain": 0.0123},
        "scenarios": {
            "pessimistic": 0.375, "score": 0.4375, "optimistic": 0.625, "unassessed": 7,
            "added_pool": [text], "added_pool_to": text,
            "scores": {
                name: {"pessimistic": 0.375, "score": 0.4375, "optimistic": 0.625}
                for name in (MEASURE, "SF-ALL-Micro-P", "SF-ALL-Micro-R", "SF-ALL-Micro-F1")
            },
            "slots": [{"slot": text, "lines": 28, "unassessed": 7, "share": 0.25}],
        },
        "policies": [
            {"name": name, "policy": {**_SWITCHES, "justifications": "1:3"}, "scores": {MEASURE: score}}
            for name, score in (("kb", 0.4375), (text, 0.375))
        ],
        "problems": [{"code": text, "severity": "WARNING", "count": 2, "message": text}],
        "explanations": _explanations(rows, text),
    }  # fmt: skip


_SWITCHES: Final = {"right": "CORRECT", "wrong": "INCORRECT", "ignore": "UNASSESSED"}


def _mistake(at: int, text: str) -> dict[str, Any]:
    gain = None if at == 3 else round(0.2 / (at + 1), 6)
    is_class = at % 3 == 2
    kind, change, category = ("class", "found", "MISSED") if is_class else ("line", "absent", "INCORRECT")
    slot = SLOTS[at % len(SLOTS)] if text == "Bo" else text
    return {
        "kind": kind, "change": change, "file": text, "line": at + 1, "query": f"{text}{at % 10}", "slot": slot,
        "hop": at % 2, "value": text, "category": category, "node": None if is_class else text,
        "class": text if is_class else None, "gain": gain, "effects": {MEASURE: gain, "SF-AP": -0.015625},
        "removed": [] if is_class else [{"file": text, "line": at + 1}], "added": [text] if is_class else [],
    }  # fmt: skip


def _explanations(rows: list[dict[str, Any]], text: str) -> dict[str, Any]:
    """Every line and class by two steps, the second with a step below it; the queries of all."""
    of_line = ("file", "line", "query", "node", "value", "category")
    lines = [
        {**{key: row[key] for key in of_line}, "side": "wrong", "steps": [0, 1]}
        for row in rows if row["kind"] == "line"
    ]  # fmt: skip
    classes = [
        {**{key: row[key] for key in ("class", "query", "value")}, "steps": [1]}
        for row in rows if row["kind"] == "class"
    ]  # fmt: skip
    queries = [
        {
            "query": query, "unit": f"LDC{query}", "name": text, "slot": SLOTS[0], "hop": 0, "lines": {"wrong": 3},
            "classes": {"missed": 1, "found": 2}, "precision_at": {"0": [1.0, 0.5], "ALL": [0.5]}, "steps": [0],
        }
        for query in dict.fromkeys(row["query"] for row in rows)
    ]  # fmt: skip
    shown = one_line(text)
    texts = [f"Read (rule lines)\n  {shown} stands there", f"Label: wrong, {shown}"]
    return {"left_out": 0, "lines": lines, "queries": queries, "classes": classes, "texts": texts}


def told_in(page: bytes) -> dict[str, Any]:
    """What opens on a page, unpacked."""
    (packed,) = re.findall(rb'<script type="application/octet-stream" id="openings">([A-Za-z0-9+/=]*)</script>', page)
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(packed)))
    return found


def _budget(kind: str, count: int, gain: float, cumulated: float) -> dict[str, Any]:
    score = 0.4375 + gain
    return {
        "kind": kind, "count": count, "gain": gain, "score": score, "cumulated": cumulated, "removed": [], "added": [],
        "policy": _SWITCHES,
    }  # fmt: skip


def _group(name: str, at: int) -> dict[str, Any]:
    return {
        "group": name, "counts": {"right": at, "wrong": 4 - at}, "precision": at / 4, "recall": at / 5, "f1": at / 6,
        "mistakes": 10 * at, "share": at / 10,
    }  # fmt: skip


def parsed(data: bytes) -> Any:
    return html.document_fromstring(data.decode())


def column(page: Any, table: str, key: str) -> list[Any]:
    """The cells of a column of a table of a page, by its key."""
    found = page.get_element_by_id(table)
    at = found.xpath(".//th/@data-key").index(key)
    return [row.xpath("./td")[at] for row in found.xpath(".//tbody/tr")]


def exact(page: Any, table: str, key: str) -> list[float | None]:
    """The exact numbers of a column; None for an empty cell."""
    return [float(cell.get("data-exact")) if cell.get("data-exact") else None for cell in column(page, table, key)]


def texts(page: Any, table: str, key: str) -> list[str]:
    return [cell.text_content() for cell in column(page, table, key)]


def write(folder: Path, value: object, name: str = "analysis.json") -> None:
    (folder / name).write_text(json.dumps(value), encoding="utf-8")


def page_in(folder: Path, value: object) -> bytes:
    """The page that `cs-score report` makes of an analysis."""
    write(folder, value)
    (folder / "page.html").unlink(missing_ok=True)
    return done(score_in(folder, ["report", "analysis.json", "-o", "page.html"])).files["page.html"]


def done(outcome: Outcome) -> Outcome:
    assert (outcome.status, outcome.stderr) == (0, b"")
    return outcome


UNITS = ("CS17_0000001", "CS17_0000002", "CS17_0000003", "CS17_0000004")


def batch(text: str = "alpha", *, pages: bool = True) -> dict[str, Any]:
    """Three runs under two policies, and one that failed; `text` stands where a file fills something."""
    names = (text, "beta", "gamma")
    policies = ("strict", text)
    interval = {"low": 0.25, "high": 0.75}
    return {
        "kind": "batch",
        "schema_version": 4,
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
            "first": [
                {"measure": MEASURE, "policy": policy, "runs": [0, 2], "shares": [0.25, 0.5, 0.25]}
                for policy in policies
            ],
        },
    }  # fmt: skip
