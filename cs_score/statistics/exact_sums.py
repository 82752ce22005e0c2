"""Sums of statistics without rounding error.

Floating-point addition depends on the order of the terms, and a matrix product adds in an order that changes with the
library, the processor and the shape of the matrices. A column whose sums could be rounded is therefore written in two
digits to a large base, each an integer so small that all sums of it stay below 2^53: matrix products of the digits
are exact whatever the order, and one rounding turns their sums back into a number. This is the splitting of K. Ozaki,
T. Ogita, S. Oishi and S. M. Rump, "Error-free transformations of matrix multiplication by using fast routines of
matrix multiplication", Numerical Algorithms 59, 2012, with two digits. Integer columns need no splitting.

Two digits hold 2 (52 - log2 units) bits below the largest value of a column, 84 bits for a thousand units. What lies
below is rounded off, value by value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.statistics.arithmetic import Floats

_EXACT: Final = 2**53
_SUM_BITS: Final = 52
_LARGEST_EXPONENT: Final = 1023


class ExactStatistics(Record):
    """The statistics of one or more systems on the same units, ready to be summed exactly.

    `digits` (units, systems, statistics + split columns) holds integers; the second digits of the split columns
    follow the first digits of all columns. `split` names the columns with two digits, `digit_bits` the size of a
    digit and `exponents` the power of two of each split column. Weighted sums of digits, with non-negative integer
    weights that sum to at most `units`, are exact; `values` turns them into sums of statistics.
    """

    digits: Floats
    columns: int
    split: NDArray[np.intp]
    digit_bits: int
    exponents: NDArray[np.intc]

    @property
    def units(self) -> int:
        return int(self.digits.shape[0])

    def total(self) -> Floats:
        """The digit sums over all units: (systems, digits)."""
        return np.asarray(self.digits.sum(axis=0))

    def weighted(self, weights: Floats) -> Floats:
        """The digit sums for each row of `weights` (N, units): (N, systems, digits)."""
        flat = self.digits.reshape(self.units, -1)
        return np.asarray(weights @ flat).reshape(len(weights), *self.digits.shape[1:])

    def values(self, digit_sums: Floats) -> Floats:
        """Sums of statistics (..., statistics) from digit sums (..., digits)."""
        if not len(self.split):
            return digit_sums
        sums = digit_sums[..., : self.columns].copy()
        rest = np.ldexp(digit_sums[..., self.columns :], -self.digit_bits)
        sums[..., self.split] = np.ldexp(sums[..., self.split] + rest, self.exponents)
        return sums


def exact_statistics(matrices: Sequence[ArrayLike]) -> ExactStatistics:
    """The matrices (units, statistics) of one or more systems, split as far as needed.

    The systems share the bases of the digits, so that rows can be exchanged between them. Raises InputError where there
    is no unit, where a value is not finite or where sums would overflow; ValueError where the shapes differ.
    """
    arrays = [_matrix(matrix) for matrix in matrices]
    units, columns = arrays[0].shape
    if any(array.shape != (units, columns) for array in arrays):
        raise ValueError("the matrices of the systems differ in shape")
    stacked = np.stack(arrays, axis=1)
    largest = np.abs(stacked).max(axis=(0, 1))
    if not np.isfinite(largest).all():
        raise InputError("a statistic is not a finite number")
    is_whole = (np.rint(stacked) == stacked).all(axis=(0, 1)) & (largest <= _EXACT // units)
    split = np.flatnonzero(~is_whole)
    size_bits = units.bit_length()
    digit_bits = _SUM_BITS - size_bits
    _, powers = np.frexp(largest[split])
    if len(powers) and int(powers.max()) + size_bits > _LARGEST_EXPONENT:
        raise InputError("a statistic is too large for its sums to be represented")
    exponents = (powers - digit_bits).astype(np.intc)
    if len(split):
        scaled = np.ldexp(stacked[..., split], -exponents)
        stacked[..., split] = np.rint(scaled)
        second = np.rint(np.ldexp(scaled - stacked[..., split], digit_bits))
        stacked = np.concatenate([stacked, second], axis=-1)
    stacked.setflags(write=False)  # a formula sees these rows
    return ExactStatistics(stacked, columns, split, digit_bits, exponents)


def _matrix(given: ArrayLike) -> Floats:
    matrix = np.asarray(given, dtype=np.float64)
    if not len(matrix):  # an empty list of rows has no columns either
        raise InputError("there is no unit to resample")
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise ValueError("statistics come as a matrix, units by statistics")
    return matrix
