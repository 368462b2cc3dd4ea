"""EMGD and other rules in a loop of plain PyTorch."""

from ._backward import Parameters, backward, combine, gram
from ._engine import Engine
from ._rule import Rule

__all__ = ["Engine", "Parameters", "Rule", "backward", "combine", "gram"]
