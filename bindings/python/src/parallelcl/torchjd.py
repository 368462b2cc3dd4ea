"""Rules as TorchJD's weightings and aggregators. What a rule remembers is in the state_dict of its module."""

from __future__ import annotations

import warnings
import torch
from torchjd import aggregation

from ._library import Error
from ._own import AnyRule, Own, as_rule
from ._rule import Rule
from ._backward import exact
from ._values import Parameter


class _WithRule:
    """A module with a rule: given, or made of its name and parameters."""

    rule: Rule | Own

    def _hold(self, rule: AnyRule | str, seed: int, params: dict[str, Parameter]) -> None:
        if isinstance(rule, str):
            rule = Rule(rule, seed=seed, **params)
        elif params or seed:
            raise Error("the rule has been made already: give its parameters to it")
        self.rule = held = as_rule(rule)
        if isinstance(held, Own):
            self._first = held.state()
            return
        if held.info["needs_losses"]:
            raise Error(f"{held.name} needs losses, which TorchJD does not pass on: call the rule itself")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it was said when the rule was made
            self._first = Rule(held.name, seed=held.seed, **held.params).state()  # a rule that was given may remember something

    def reset(self) -> None:
        """Forgets everything that the rule remembers."""
        self.rule.set_state(self._first)

    def get_extra_state(self) -> bytes:
        return self.rule.state()

    def set_extra_state(self, state: bytes) -> None:
        self.rule.set_state(state)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rule!r})"


class Weighting(_WithRule, aggregation.Weighting[torch.Tensor]):
    """A Weighting that extracts the weights from a Gramian: Weighting("emgd-gmc", tau=5) or Weighting(parallelcl.EMGDGMC())."""

    def __init__(self, rule: AnyRule | str = "emgd-gmc", *, seed: int = 0, **params: Parameter) -> None:
        super().__init__()
        self._hold(rule, seed, params)
        if self.rule.info["needs_rows"]:
            raise Error(f"{self.rule.name} needs the Jacobian: use parallelcl.torchjd.Aggregator")

    def forward(self, gramian: torch.Tensor, /) -> torch.Tensor:
        return torch.from_numpy(self.rule.weights(gramian)).to(gramian)


class Aggregator(_WithRule, aggregation.Aggregator):
    """An Aggregator of any rule: the Jacobian in, the step's direction out."""

    def __init__(self, rule: AnyRule | str = "emgd-gmc", *, seed: int = 0, **params: Parameter) -> None:
        super().__init__()
        self._hold(rule, seed, params)

    def forward(self, matrix: torch.Tensor, /) -> torch.Tensor:
        if self.rule.info["needs_rows"]:
            return torch.from_numpy(self.rule.direction(matrix)).to(matrix)
        with torch.no_grad():
            j = exact(matrix)
            return torch.from_numpy(self.rule.weights(j @ j.T)).to(matrix) @ matrix


__all__ = ["Aggregator", "Weighting"]
