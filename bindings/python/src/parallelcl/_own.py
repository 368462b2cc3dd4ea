"""Rules that are written in Python: a function, or an object with a state, wherever a rule is taken."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ._library import Error
from ._rule import Rule
from ._values import Floats, Values, array, stream_ids

RuleFunction: TypeAlias = Callable[[Floats, Floats | None, list[int]], Values]
"""A rule in Python: rule(gram, losses, ids) -> weights. gram is the K×K Gram matrix; losses are the K losses, or None
where the caller has none; ids are the streams' ids, 0 for the memory. If the rule has an attribute state, which holds what
JSON can hold, the state is saved and restored; if it has a method end(id), it is told when a stream has ended."""

AnyRule: TypeAlias = Rule | RuleFunction
"""A Rule, or one that is written in Python."""


class Own:
    """A rule that is written in Python, with the methods of Rule. It needs no Gram matrix from gradients: give either."""

    def __init__(self, function: RuleFunction) -> None:
        self.function = function
        code = getattr(function, "__code__", None) or getattr(getattr(type(function), "__call__"), "__code__", None)
        self.name: str = getattr(function, "__name__", type(function).__name__)
        self.where = f"{code.co_filename}:{code.co_firstlineno}: {self.name}" if code else self.name
        self.seed, self.params = 0, dict[str, Any]()
        self.info: dict[str, Any] = {"needs_losses": True, "needs_rows": False, "needs_gram": True, "follows": False, "leaves_out": [], "direct": False}
        self._lock = threading.Lock()

    def weights(self, gram: Values | None = None, jacobian: Values | None = None, losses: Values | None = None, *, ids: Values | None = None) -> Floats:
        """The K weights of one step, checked; see Rule.weights."""
        if (gram is None) == (jacobian is None):
            raise Error("give either gram or jacobian")
        if jacobian is not None:
            rows: Floats = np.asarray(array(jacobian, "jacobian", 2), np.float64)
            m: Floats = rows @ rows.T
        else:
            m = np.array(array(gram, "gram", 2), np.float64)
        k = len(m)
        if m.shape != (k, k) or not np.isfinite(m).all():
            raise Error(f"gram has the shape {m.shape}, or entries that are not finite; want a square matrix of finite numbers")
        values = None if losses is None else np.array(array(losses, "losses", 1), np.float64)
        named: list[int] = list(range(1, k + 1)) if ids is None else stream_ids(ids).tolist()
        if len(named) != k or values is not None and len(values) != k:
            raise Error(f"{len(named)} ids and {k if values is None else len(values)} losses for {k} gradients")
        with self._lock:
            answer = self.function(m, values, named)
        try:
            w = np.array(array(answer, "weights", 1), np.float64)
        except Error as e:
            raise Error(f"{self.where}: {e}") from None
        if len(w) != k or not np.isfinite(w).all():
            raise Error(f"{self.where} returned {w}; want {k} finite weights")
        return w

    def direction(self, jacobian: Values, losses: Values | None = None, *, ids: Values | None = None) -> Floats:
        """The sum of the weighted rows."""
        rows = np.asarray(array(jacobian, "jacobian", 2), np.float64)
        return self.weights(jacobian=rows, losses=losses, ids=ids) @ rows

    def end(self, id: int) -> None:
        """Says that a stream has ended."""
        if hasattr(self.function, "end"):
            getattr(self.function, "end")(id)

    def state(self) -> bytes:
        """What the rule remembers, as JSON."""
        held = getattr(self.function, "state", None)
        try:
            text = json.dumps(held, allow_nan=False)
        except (TypeError, ValueError) as e:
            raise Error(f"{self.where}: its state: {e}; want numbers, texts, lists, and dicts whose keys are texts") from None
        if json.loads(text) != held:
            raise Error(f"{self.where}: its state {held!r} would come back as {text}; want lists, and dicts whose keys are texts")
        return text.encode()

    def set_state(self, state: bytes | bytearray | memoryview) -> None:
        """Goes on as the rule whose state() this was."""
        held = json.loads(bytes(state))
        if held is not None:
            setattr(self.function, "state", held)

    def __repr__(self) -> str:
        return f"Own({self.where})"


def as_rule(rule: AnyRule) -> Rule | Own:
    """A rule as the modules call it."""
    if isinstance(rule, (Rule, Own)):
        return rule
    if not callable(rule) or isinstance(rule, type):
        raise Error(f"rule is {rule!r}; want a Rule, such as parallelcl.EMGDGMC(), or a function rule(gram, losses, ids) -> weights")
    return Own(rule)
