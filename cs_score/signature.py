"""What a score was computed from: enough to compute it again and to see that two scores can be compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cs_score.sources import InputDigest
from cs_score.version import VERSION


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


def short_signature(signature: Mapping[str, object]) -> str:
    """Sixteen hexadecimal digits of the SHA-256 of a signature in JSON: equal where scores can be compared."""
    text = json.dumps(signature, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
