"""What the text of an analysis leaves out."""

from __future__ import annotations

from tests.analysis.test_policies import SAMPLES
from tests.coldstart.command import score_in
from tests.documents import ROOT


def test_top_shortens_lists_but_no_summary() -> None:
    """The last kind of the budget is often the largest."""
    told = score_in(ROOT, ["analyze", "--top", "2", *SAMPLES]).stdout.decode()
    whole, cut = (told.index(title) for title in ("The score if all mistakes", "The costliest mistakes"))
    assert whole < told.index("\nmissed ") < cut
    assert "(2 of 9):" in told[cut:]
    assert "ten bins of equal size by confidence, and the share that is right:" in told
