"""A judgement as text, JSON, JUnit XML and annotations of a hosted workflow."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

from cs_score.base.display import one_line
from cs_score.base.records import to_builtins
from cs_score.gates.judging import Check, Judgement
from cs_score.statistics.options import sentences

SCHEMA_VERSION: Final = 1
"""Of the JSON object; raised when a key changes its meaning or goes away."""

_TITLE: Final = "cs-score check"

# What XML 1.0 has no way to write; all else that is not seen is escaped as for a terminal.
_NO_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def judgement_text(judgement: Judgement) -> str:
    """A line for each limit, how many are kept, and the signatures."""
    lines = [f"{'ok  ' if check.passed else 'FAIL'}  {check.message}" for check in judgement.checks]
    lines += [*sentences(judgement.notes), _summary(judgement), ""]
    lines += [f"signature  {judgement.origin_of(judgement.run).signature}"]
    if judgement.baseline is not None:
        lines.append(f"baseline   {judgement.origin_of(judgement.baseline).signature}")
    return "".join(f"{one_line(line)}\n" for line in lines)


def judgement_json(judgement: Judgement) -> str:
    """A JSON object."""
    baseline = judgement.baseline
    compared = None if baseline is None else str(judgement.origin_of(baseline).signature)
    told = {
        "schema_version": SCHEMA_VERSION,
        "passed": judgement.passed,
        "checks": [_check(check) for check in judgement.checks],
        "notes": list(to_builtins(judgement.notes)),
        "signature": judgement.origin_of(judgement.run).as_json(),
        "baseline": None if baseline is None else {"file": baseline.name, "line": compared},
    }
    return json.dumps(told, indent=1, allow_nan=False) + "\n"


def judgement_junit(judgement: Judgement) -> str:
    """JUnit XML: a suite with a test case for each limit."""
    cases = [_case(check) for check in judgement.checks]
    properties = [("signature", str(judgement.origin_of(judgement.run).signature))]
    if judgement.baseline is not None:
        properties.append(("baseline", str(judgement.origin_of(judgement.baseline).signature)))
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name="{_TITLE}" tests="{len(cases)}" failures="{len(judgement.failed)}" errors="0">',
            " <properties>",
            *(f'  <property name="{name}" value="{_xml(value)}"/>' for name, value in properties),
            " </properties>",
            *cases,
            "</testsuite>",
            "",
        ]
    )


def _case(check: Check) -> str:
    head = f' <testcase classname="{_TITLE}" name="{_xml(check.name)}"'
    if check.passed:
        return f"{head}/>"
    message = _xml(check.message)
    return f'{head}>\n  <failure type="{check.kind}" message="{message}">{message}</failure>\n </testcase>'


def judgement_annotations(judgement: Judgement) -> str:
    """Workflow commands of GitHub: an error for each limit that is not kept, and a notice that sums up."""
    lines = [f"::error title={_of_property(check.name)}::{_of_message(check.message)}" for check in judgement.failed]
    line = f"{_summary(judgement)} {judgement.origin_of(judgement.run).signature}"
    return "\n".join([*lines, f"::notice title={_TITLE}::{_of_message(line)}", ""])


def error_text(format_: str, message: str) -> str:
    """Why nothing could be checked, in the format of that name; plain text has no place for it but standard error."""
    message = one_line(message)
    if format_ == "json":
        return json.dumps({"schema_version": SCHEMA_VERSION, "passed": False, "error": message}, indent=1) + "\n"
    if format_ == "junit":
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<testsuite name="{_TITLE}" tests="1" failures="0" errors="1">\n'
            f' <testcase classname="{_TITLE}" name="the inputs">\n'
            f'  <error type="input" message="{_xml(message)}">{_xml(message)}</error>\n </testcase>\n</testsuite>\n'
        )
    return f"::error title={_TITLE}::{_of_message(message)}\n" if format_ == "github" else ""


Writer = Callable[[Judgement], str]

WRITERS: Final[dict[str, Writer]] = {
    "text": judgement_text,
    "json": judgement_json,
    "junit": judgement_junit,
    "github": judgement_annotations,
}
"""Format -> writer; every text ends with a line feed."""


def _summary(judgement: Judgement) -> str:
    number = len(judgement.checks)
    return f"{number - len(judgement.failed)} of {number} limit{'' if number == 1 else 's'} kept."


def _check(check: Check) -> dict[str, object]:
    return {
        "name": check.name,
        "kind": str(check.kind),
        "measure": check.measure,
        "limit": float(check.limit),
        "score": check.score,
        "baseline": check.baseline,
        "difference": None if check.drop is None else float(-check.drop),
        "drop": None if check.drop is None else float(check.drop),
        "p": check.p,
        "passed": check.passed,
        "message": check.message,
    }


def _xml(text: str) -> str:
    """Text for an attribute or an element."""
    text = _NO_XML.sub("\ufffd", one_line(text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _of_message(text: str) -> str:
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _of_property(text: str) -> str:
    return _of_message(text).replace(":", "%3A").replace(",", "%2C")
