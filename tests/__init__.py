"""Tests. Helps and messages list the same tasks, whatever packages are installed, also while tests are collected."""

import pytest

from cs_score.tasks import outside

pytest.MonkeyPatch().setattr(outside, "find_offers", list)
