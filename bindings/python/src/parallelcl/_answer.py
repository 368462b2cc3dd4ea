"""Answer and Certificate: what a rule says of one problem."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from ._library import Call, check_process, library, take
from ._values import Floats

_STATUS = ["optimal", "stationary", "floor-binding", "floor-infeasible", "ill-conditioned", "iteration-limit", "rows-dropped"]
_NUMBERS = ("norm2", "level", "violation", "gap", "cancellation", "floor", "exponent", "iterations")
HEAD = -(-ctypes.sizeof(Call) // 8)  # the struct of a call, in numbers of 8 bytes


def call_in(block: Floats) -> Call:
    """The struct of a call, which lies at the beginning of a block of numbers."""
    return Call.from_buffer(block.data)


@dataclass(eq=False)
class Certificate:
    """The proof that the weights λ of the step d = Σ λᵢJᵢ are optimal: λ ≥ floor, Σ λᵢσᵢ = 1, every slack is ≥ 0, and it is 0
    where λᵢ is above the floor. K is the number of rows that were given; rows are counted from 0. A squared length (of
    gradients) is in units of 4^exponent; numbers without a unit are ratios.

    sigma         K floats: the elastic factors σᵢ, each row's share of what the step guarantees
    slacks        K floats, squared length: Jᵢ·d − σᵢ·level, what row i gains beyond its guaranteed share
    norm2         float, squared length: ‖d‖²; 0 if stationary
    level         float, squared length: the common Jᵢ·d/σᵢ of the active rows; ‖d‖² unless a floor binds
    violation     float, no unit: the worst breach of the conditions, relative to the row's scale; below 1e-9 if optimal
    gap           float, no unit: how far Σ (λᵢ − floor)·|slackᵢ| is from 0, relative to the rows' scales
    cancellation  float, 0 to 1: ‖d‖ / Σ λᵢ‖Jᵢ‖; 1 if the active gradients agree, below about 1e-6 d is not told from 0
    floor         float, in units of λ: the lower bound of the weights
    exponent      int: the unit of squared lengths; mostly 0, which is that of the gradients as given
    iterations    int: changes of the active set; 0 if a formula gave the weights
    active        list of int: the rows whose weight is above the floor
    dropped       list of int: the rows left out, as zero next to the longest gradient
    status        str: "optimal", "stationary" (no direction lowers every loss), "floor-binding", "floor-infeasible",
                  "ill-conditioned", "iteration-limit" or "rows-dropped"; message says what each means and what to try"""

    sigma: Floats
    slacks: Floats
    norm2: float
    level: float
    violation: float
    gap: float
    cancellation: float
    floor: float
    exponent: int
    iterations: int
    active: list[int]
    dropped: list[int]
    status: str

    @property
    def message(self) -> str:
        """What the status means, what to try, and which rows were left out."""
        check_process()
        text = take(library.pcl_message(_STATUS.index(self.status))).decode()
        if not self.dropped:
            return text
        rows = f"row{'s' if len(self.dropped) > 1 else ''} {' '.join(map(str, self.dropped))}"
        return f"{text}; left out, as zero next to the longest gradient: {rows} (counted from 0)"

    def __repr__(self) -> str:
        return f"Certificate(status={self.status!r}, sigma={self.sigma}, slacks={self.slacks}, gap={self.gap:.3g})"


class Answer:
    """What a rule says of one problem with K gradients."""

    weights: Floats
    """The K weights."""

    def __init__(self, block: Floats, k: int) -> None:
        self._block, self._k = block, k
        self.weights = block[HEAD : HEAD + k]

    @property
    def certificate(self) -> Certificate | None:
        """The proof of optimality; None for rules without one."""
        k, block, call = self._k, self._block, call_in(self._block)
        status: int = call.status
        if status < 0:
            return None
        numbers = {name: getattr(call, name) for name in _NUMBERS}
        sigma, slacks = block[HEAD + k : HEAD + 2 * k], block[HEAD + 2 * k : HEAD + 3 * k]
        return Certificate(sigma, slacks, active=self._rows(0), dropped=self.left_out, status=_STATUS[status], **numbers)

    @property
    def left_out(self) -> list[int]:
        """The rows, counted from 0, whose gradient is negligible beside the longest one. Their weight is 0."""
        return self._rows(1)

    def _rows(self, flag: int) -> list[int]:
        """The rows that have a flag: the first is that of active rows, the second that of rows left out."""
        k = self._k
        flags = self._block[HEAD + 3 * k :].view(np.uint8)[flag * k : (flag + 1) * k]
        rows: list[int] = np.flatnonzero(flags).tolist()
        return rows

    def __repr__(self) -> str:
        return f"Answer(weights={self.weights}, certificate={self.certificate})"
