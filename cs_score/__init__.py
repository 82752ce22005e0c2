"""cs-score: scoring for knowledge-base population and evidence-based fact checking."""

from cs_score.foundation.version import VERSION

__version__ = VERSION

__all__ = ["__version__"]
