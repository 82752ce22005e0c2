"""`cs-score schema [NAME]`: the JSON Schemas of what cs-score writes."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import Final

from cs_score.base.errors import UsageError
from cs_score.base.nearest import nearest
from cs_score.cli.destinations import write_text
from cs_score.cli.form import Form, Parameter
from cs_score.cli.options import CommandLine

_ENDING: Final = ".schema.json"
_FOLDER: Final = files("cs_score") / "schemas"


def names() -> Iterable[str]:
    """What there are schemas of."""
    return sorted(file.name.removesuffix(_ENDING) for file in _FOLDER.iterdir())


def _run(line: CommandLine) -> int:
    known = list(names())
    if not line.words:
        write_text("stdout", "".join(f"{name}\n" for name in known))
        return 0
    (name,) = line.words
    if name not in known:
        raise UsageError(f"there is no schema {name}; there are {', '.join(known)}{nearest(name, known)}")
    write_text("stdout", (_FOLDER / f"{name}{_ENDING}").read_text("utf-8"))
    return 0


FORM: Final = Form(
    "schema",
    (),
    (Parameter("name", "A kind of JSON object; without one all are listed", is_optional=True, choices=names),),
    body=_run,
)
