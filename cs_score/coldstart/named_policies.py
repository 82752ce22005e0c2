"""Named policies: what several scorings of one run may differ in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cs_score.base.errors import UsageError
from cs_score.base.patterns import pattern
from cs_score.base.records import Record, replace
from cs_score.coldstart.options import PRESETS, Justifications, Options, Policy

# The parts of `--policy NAME:PART=VALUE,...` that choose categories, as the switches of the scorer are called.
_SIDES: Final = ("right", "wrong", "ignore")
_LIMITS: Final = "justifications"
_NAME: Final = pattern(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


class NamedPolicy(Record):
    """A policy with the limits on justifications that go with it; `texts` are IGNORE, RIGHT and WRONG as typed."""

    name: str
    policy: Policy
    justifications: Justifications
    texts: dict[str, str]

    def options(self, base: Options) -> Options:
        """`base` under this policy."""
        return replace(base, policy=self.policy, justifications=self.justifications)


def read_policies(
    given: Sequence[str], base: Options, texts: dict[str, str], switch: str = "--policy"
) -> list[NamedPolicy]:
    """The policies of `--policy` switches: `NAME` of a preset, or `NAME:right=...,wrong=...,ignore=...`.

    Parts that are left out are those of `base`, whose policy was typed as `texts`; messages name the `switch`. Raises
    UsageError for what cannot be understood, for an impossible policy, and for a name that comes twice.
    """
    read = [_read(text, base, texts, switch) for text in given]
    names = [policy.name.casefold() for policy in read]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{switch} {name} is given twice; each policy needs a name of its own")
    return read


def _read(text: str, base: Options, texts: dict[str, str], switch: str) -> NamedPolicy:
    name, colon, parts = text.partition(":")
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{switch} {text}: a name is made of letters, digits and ._+- and begins with one of the former"
        )
    if not colon:
        if name not in PRESETS:
            raise UsageError(f"{switch} {name}: no such preset; there are {', '.join(PRESETS)}, others are {_FORM}")
        preset = PRESETS[name]
        return NamedPolicy(name, preset.policy, preset.justifications, preset.policy.texts())
    chosen = dict(texts)
    limits = base.justifications
    for part in parts.split(","):
        key, equals, value = part.partition("=")
        if not equals or key not in (*_SIDES, _LIMITS):
            raise UsageError(f"{switch} {text}: {part or 'an empty part'} is not understood; the form is {_FORM}")
        if key == _LIMITS:
            limits = Justifications.parse(value)
        else:
            chosen[key.upper()] = value
    policy = Policy(**{side: tuple(filter(None, chosen[side.upper()].rstrip(":").split(":"))) for side in _SIDES})
    return NamedPolicy(name, policy, limits, chosen)


_FORM: Final = "NAME:right=A:B,wrong=C:D,ignore=E,justifications=1:3"
