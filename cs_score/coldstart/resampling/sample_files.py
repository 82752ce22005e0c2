"""Bootstrap resample files: which queries each sample draws (specification 11.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.patterns import pattern
from cs_score.base.records import Record
from cs_score.base.white_space import SPACE
from cs_score.coldstart.queries.identifiers import parse_query_id

_SPACE: Final = pattern(SPACE)
_LEADING_NUMBER: Final = pattern(r"\s*([-+]?[0-9]{1,18})")


class Draw(Record):
    """One LDC query drawn: its id and those of its slot-filling queries as written, and the short ids of the latter."""

    ldc_id: str
    written: tuple[str, ...]
    short_ids: tuple[str, ...]


class Sample(Record):
    """One resample: its number as written and as a number, and the LDC queries drawn, repeated ones included."""

    label: str
    number: int
    draws: tuple[Draw, ...]

    def one_entry_point(self) -> Counter[str]:
        """How often each slot-filling query is drawn when a drawn LDC query stands for its first one."""
        return Counter(draw.short_ids[0] for draw in self.draws if draw.short_ids)

    def all_entry_points(self) -> Counter[str]:
        """How often each slot-filling query is drawn when a drawn LDC query stands for all of its own."""
        return Counter(short_id for draw in self.draws for short_id in draw.short_ids)


class SampleFile(Record):
    """The samples of a file by ascending number, and what the reference passes over in silence.

    `exists` tells whether there is such a file, `blank` holds the numbers of its blank lines, and `repeated` those of
    lines whose sample replaces an earlier one.
    """

    samples: tuple[Sample, ...]
    exists: bool
    blank: tuple[int, ...]
    repeated: tuple[int, ...]


def read_samples(name: str) -> SampleFile:
    """Read a file of samples; one that does not exist has none.

    Of several samples with one number the last counts. Raises InputError for an id that cannot be parsed and for a file
    that cannot be read.
    """
    samples: dict[str, Sample] = {}
    blank: list[int] = []
    repeated: list[int] = []
    known: dict[str, Draw] = {}  # the same few draws stand in every sample
    try:
        with open(name, encoding="utf-8", newline="\n") as file:
            for line_number, line in enumerate(file, 1):
                sample = _read_sample(line, known, name, line_number)
                if not line.strip():
                    blank.append(line_number)
                elif sample.label in samples:
                    repeated.append(line_number)
                samples[sample.label] = sample
    except FileNotFoundError:
        return SampleFile((), False, (), ())
    except UnicodeDecodeError:
        raise InputError("not UTF-8", file=name) from None
    except OSError as error:
        raise InputError(f"Could not open {name}: {error.strerror}") from None
    ordered = sorted(samples.values(), key=lambda sample: (sample.number, sample.label))
    return SampleFile(tuple(ordered), True, tuple(blank), tuple(repeated))


def last_by_label(samples: Iterable[Sample]) -> Sample | None:
    """The sample whose number sorts last as a string (specification 13.8)."""
    return max(samples, key=lambda sample: sample.label, default=None)


def _read_sample(line: str, known: dict[str, Draw], name: str, line_number: int) -> Sample:
    columns = _SPACE.split(line.removesuffix("\n"))
    while len(columns) > 1 and not columns[-1]:
        columns.pop()
    label, *groups = columns
    match = _LEADING_NUMBER.match(label)
    for group in groups:
        if group not in known:
            known[group] = _read_draw(group, name, line_number)
    return Sample(label, int(match.group(1)) if match else 0, tuple(map(known.__getitem__, groups)))


def _read_draw(group: str, name: str, line_number: int) -> Draw:
    ldc_id, _, rest = group.partition(":")
    written: Sequence[str] = [text for text in rest.split(":")[0].split(",") if text]
    short_ids: list[str] = []
    for text in written:
        parts = parse_query_id(text)
        if parts is None:
            raise InputError(
                f'unexpected argument: "{text}" sent to parse_queryid',
                file=name,
                place=f"line {line_number}",
                remedy="a sample is NUMBER LDC_ID:QUERY_ID,QUERY_ID,... with single blanks between the LDC queries",
            )
        short_ids.append(parts.short)
    return Draw(ldc_id, tuple(written), tuple(short_ids))
