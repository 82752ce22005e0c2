"""What a score was computed from: enough to compute it again and to see that two scores can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from cs_score.foundation.sources import InputDigest
from cs_score.foundation.version import VERSION


@dataclass(frozen=True, slots=True)
class Signature:
    """Tool version, mode (`coldstart`, `scifact`, ...), the options in force and the digest of each input."""

    mode: str
    options: Mapping[str, object]
    inputs: Sequence[InputDigest]
    version: str = field(default=VERSION)

    def with_option(self, name: str, value: object) -> Signature:
        """The signature of a computation that one more option went into."""
        return replace(self, options={**self.options, name: value})

    def as_json(self) -> dict[str, object]:
        """The signature as a JSON object: `tool`, `version`, `mode`, `options`, `inputs` (name and SHA-256 each)."""
        return {
            "tool": "cs-score",
            "version": self.version,
            "mode": self.mode,
            "options": dict(self.options),
            "inputs": [{"name": digest.name, "sha256": digest.sha256} for digest in self.inputs],
        }


# What a batch signs beside the scores: it changes files, and no score.
_LAYOUT: Final = frozenset({"fields", "tabs", "json"})


def short_signature(signature: Mapping[str, Any]) -> str:
    """Sixteen hexadecimal digits of the SHA-256 of a signature in JSON: equal where scores can be compared.

    Neither how paths are spelled nor the layout of files goes into it.
    """
    import hashlib
    import json

    counted = {name: value for name, value in without_names(signature).items() if name not in _LAYOUT}
    text = json.dumps(counted, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def without_names(signature: Mapping[str, Any]) -> dict[str, Any]:
    """A signature in JSON with the digests of the inputs alone; options that name an input have its digest, too."""
    digests = {given["name"]: given["sha256"] for given in signature["inputs"]}
    options = {
        name: digests.get(value, value) if isinstance(value, str) else value
        for name, value in signature["options"].items()
    }
    return {**signature, "options": options, "inputs": [given["sha256"] for given in signature["inputs"]]}
