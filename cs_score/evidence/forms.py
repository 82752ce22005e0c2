"""Why files cannot be scored as a whole: they are swapped, or of another form of JSON."""

from __future__ import annotations

import json
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.sources import open_source

_OF_LINES: Final = ("scifact", "claims")


def advice(task: str, gold: str, predictions: str) -> str | None:
    """What is wrong with files that cannot be scored as a whole: they are swapped, or of another form of JSON."""
    if "-" in (gold, predictions):
        return None
    looks = [_looks_like(task, file) for file in (gold, predictions)]
    if looks == ["predictions", "gold"]:
        return f"the files are swapped: {predictions} is gold; write --gold {predictions} --predictions {gold}"
    for file, look in zip((gold, predictions), looks):
        if look == "list":
            return (
                f"{file} is a JSON list, where one object a line is expected; convert it: jq -c '.[]' {file} > {file}l"
            )
        if look == "lines":
            return f"{file} has one JSON object a line, where a single value is expected; convert it: jq -s . {file}"
    return None


def _looks_like(task: str, file: str) -> str | None:
    """What a file seems to be, by its beginning: gold, predictions, or another form of JSON; None if uncertain."""
    try:
        with open_source(file) as source:
            text = source.read_bytes().decode("utf-8", "replace").lstrip("\ufeff \r\n\t")
        if task in _OF_LINES and text.startswith("["):  # a line of another file may begin so, too
            json.loads(text)
            return "list"
        first = json.loads(text.partition("\n")[0] if task in _OF_LINES else text)
    except InputError:
        return None
    except (ValueError, RecursionError):
        lines = text.splitlines()
        is_of_lines = len(lines) > 1 and all(line[:1] == "{" and line[-1:] == "}" for line in lines[:2])
        return "lines" if is_of_lines and task not in _OF_LINES else None
    if task == "hotpotqa":
        return "gold" if isinstance(first, list) else "predictions"
    if not isinstance(first, dict):
        return None
    return "predictions" if ("re" in first if task == "r4c" else "claim" not in first) else "gold"
