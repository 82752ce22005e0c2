"""`cs-score apply-k RUNFILE OUTPUTFILE` (specification of the companions, 8)."""

from __future__ import annotations

from typing import Final

from cs_score.base.garbage_collection import paused_collector
from cs_score.base.outputs import encoded
from cs_score.base.planned_outputs import Existing
from cs_score.base.sources import open_source
from cs_score.cli.destinations import file_named, write_result, write_text
from cs_score.cli.form import Parameter
from cs_score.cli.leaving import Finished
from cs_score.cli.options import CommandLine, Option
from cs_score.cli.preparation.program import (
    Program,
    Session,
    justifications_switch,
)
from cs_score.preparation.pooling import documents_per_node, kept_lines

DEFAULT_JUSTIFICATIONS: Final = "1:3"

PROGRAM: Final = Program(
    "apply-k",
    (
        Option("-error_file", "FILE", "Accepted and without effect", "STDERR"),
        justifications_switch(DEFAULT_JUSTIFICATIONS),
    ),
    (Parameter("runfile", "The run"), Parameter("outputfile", "The file for the lines that are kept", is_output=True)),
    # Standard output has no special name here.
    outputs=lambda line: file_named(line.words[1]).planned("OUTPUTFILE", Existing.REPLACED),
    error_file=None,
    work=lambda line, session: _filter(line, session),
)


def _filter(line: CommandLine, session: Session) -> int:
    run_file, output_file = line.words
    most = documents_per_node(line.text("-justifications", DEFAULT_JUSTIFICATIONS))
    if most == 0:
        session.remark("-justifications leaves no document for a node (M counts as 0 here): every line is discarded")
    with paused_collector():
        with open_source(run_file) as source:
            lines = source.read_bytes().decode("utf-8", "surrogateescape").split("\n")
        if not lines[-1]:
            lines.pop()
        kept = kept_lines(lines, most)
    blocks = encoded(f"{text}\n" for text, is_kept in zip(lines, kept) if is_kept)
    write_result(file_named(output_file), blocks)
    discarded = [f"--discarding: {text}\n" for text, is_kept in zip(lines, kept) if not is_kept]
    write_text("stderr", "".join(discarded).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))
    return Finished(0, (lines, kept))
