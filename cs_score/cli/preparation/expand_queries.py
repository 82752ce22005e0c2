"""`cs-score expand-queries`, which another program replaces (specification of the companions, 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cs_score.cli.destinations import write_text
from cs_score.cli.form import REFERENCE, Form, Parameter
from cs_score.cli.options import CommandLine, SwitchError, read_command_line


class _Superseded(Form):
    """A program that accepts any words; it has help and version."""

    def read(self, words: Sequence[str]) -> CommandLine:
        """The words as they are."""
        try:
            return read_command_line(words[:1], self.options)
        except SwitchError:
            return CommandLine({}, tuple(words))


def _say_what_replaces_it(line: CommandLine) -> int:
    write_text("stderr", "cs-score expand-queries has been superseded by cs-score validate-queries -expand\n")
    return 0


PROGRAM: Final = _Superseded(
    "expand-queries",
    (),
    (Parameter("files", "Not looked at", is_optional=True, is_repeated=True),),
    contract=REFERENCE,
    body=_say_what_replaces_it,
)
