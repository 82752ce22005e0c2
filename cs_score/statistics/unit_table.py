"""A run reduced to one row of statistics per unit. Loads no numpy."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce

from cs_score.base.records import Record


class UnitTable(Record):
    """One row of statistics per unit: what a resample draws, a claim, an instance, a question, a query.

    `ids` names the units (an id that occurs twice in gold occurs twice here), `columns` the statistics; `rows` has
    one tuple per unit, in the order of `ids`. Every measure is a function of the column sums.
    """

    ids: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Sequence[tuple[float, ...]]

    def __repr__(self) -> str:
        return f"UnitTable({len(self.ids)} units, {len(self.columns)} columns)"

    def as_json(self) -> dict[str, object]:
        """A JSON object: `ids`, `columns` and `rows`."""
        return {"ids": list(self.ids), "columns": list(self.columns), "rows": [list(row) for row in self.rows]}

    def sums(self) -> tuple[float, ...]:
        """The sum of each column, added from the first row to the last (integers stay integers).

        `sum` is avoided because it compensates rounding errors from Python 3.12 on: scores would depend on the
        interpreter, and differ in the last bit from those of evaluators that add one by one.
        """
        return tuple(
            reduce(operator.add, map(operator.itemgetter(column), self.rows), 0) for column in range(len(self.columns))
        )
