"""Gold with canaries in every field: texts and numbers that nothing which participants see may have."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any, Final

from tests.documents import ROOT
from tests.verbs.preparation.invented import AskedQuery, Inputs, Judged, RunLine

TASKS: Final = {"scifact": "jsonl", "claims": "jsonl", "r4c": "json", "hotpotqa": "json", "pool": "csv"}
"""Tasks of evidence with the ending of their files."""

POLICY: Final = "right={0}CORRECT,half={0}PARTIAL,wrong={0}INCORRECT,ignore={0}JUDGE_ERROR"
"""The policy that judged answers need; what stands before each label is put into it."""

_LABELS: Final = frozenset({"SUPPORT", "CONTRADICT", "NEI", "NOT ENOUGH INFO", "SUPPORTS", "REFUTES", "yes", "no"})
_FIELD: Final = re.compile("[a-z_]+")
_TEXT: Final = "CANARY"
_NUMBER: Final = 7_000_000_000
_CANARY: Final = re.compile(rf"{_TEXT}|ca9a91|(?<![\d.])7\d{{9}}(?!\d)", re.IGNORECASE)


def canaries_in(text: str) -> list[str]:
    """Return the canaries that a text has."""
    return _CANARY.findall(text)


def planted(value: Any) -> Any:
    """Return a JSON value with a canary in every text, number and key but for labels and names of fields.

    The same value gets the same canary, so that predictions which are planted alike still fit gold.
    """
    if isinstance(value, dict):
        return {key if _FIELD.fullmatch(key) else planted(key): planted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [planted(item) for item in value]
    if isinstance(value, bool) or value is None or value in _LABELS:
        return value
    if isinstance(value, int):
        return _NUMBER + value
    if isinstance(value, str):
        return str(_NUMBER + int(value)) if value.isdecimal() else f"{_TEXT}{value}"
    return value


def plant_file(source: Path, target: Path) -> None:
    """Write a sample file of an evidence task with canaries."""
    text = source.read_text("utf-8")
    if source.suffix == ".csv":
        header, *rows = csv.reader(text.splitlines())
        with open(target, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            for row in rows:
                writer.writerow([_planted_cell(name, cell) for name, cell in zip(header, row)])
    elif source.suffix == ".jsonl":
        lines = [json.dumps(planted(json.loads(line))) for line in text.splitlines()]
        target.write_text("".join([f"{line}\n" for line in lines]), "utf-8")
    else:
        target.write_text(json.dumps(planted(json.loads(text))), "utf-8")


def _planted_cell(column: str, text: str) -> str:
    """Return a cell of a table with a canary, labels too; a confidence stays a number."""
    return text if not text or column == "confidence" else f"{_TEXT}{text}"


def options_of(task: str, canary: str = "") -> list[str]:
    """Return the options that the sample files of a task need, with labels that begin with a canary."""
    return ["--policy", POLICY.format(canary)] if task == "pool" else []


def evidence_with_canaries(task: str, folder: Path) -> tuple[Path, Path]:
    """Write gold and predictions of a task with canaries into a folder, and return their paths."""
    ending = TASKS[task]
    gold = folder / f"gold.{ending}"
    predictions = folder / f"predictions.{ending}"
    plant_file(ROOT / "assessments" / f"{task}-gold.{ending}", gold)
    plant_file(ROOT / "submissions" / f"{task}-a.{ending}", predictions)
    return gold, predictions


QUERY: Final = "CSX_ENG_ca9a91ca9a"


def cold_start_with_canaries(folder: Path) -> list[str]:
    """Write queries, a pool and a run with canaries into a folder, and return the names of their files in this order.

    The run finds an answer of the pool, and gives one that nobody assessed.
    """
    inputs = Inputs(folder)
    inputs.queries(AskedQuery(id=QUERY, name="CANARY Ann", docids=("ENG_CANARY",)))
    inputs.lines(
        Judged(value="CANARY Bo", docid="ENG_CANARY1", query=QUERY, value_class=f"{QUERY}:1", id="CANARY1"),
        Judged("W", value="CANARY Zoë", docid="ENG_CANARY2", query=QUERY, value_class="0", id="CANARY2"),
        Judged(value="CANARY Cy", docid="ENG_CANARY3", query=QUERY, value_class=f"{QUERY}:2", id="CANARY3"),
        name="pool.tab",
    )
    inputs.lines(
        RunLine("CANARY Bo", "ENG_CANARY1", query=QUERY),
        RunLine("CANARY Dan", "ENG_CANARY4", query=QUERY, node=":E2"),
        name="run.tab",
    )
    return ["q.xml", "pool.tab", "run.tab"]
