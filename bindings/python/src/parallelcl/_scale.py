"""Whether a rule's weights depend on the common scale of the gradients."""

from __future__ import annotations

import json
import warnings

import numpy as np

from ._library import Error
from ._own import Own
from ._rule import Rule
from ._values import Floats

_JACOBIANS = [np.array([[4.0, 1, 0, 1], [-1, 0.5, 2, 0], [0.5, -2, 1, 3]]), np.array([[1.0, -1, 0.5, 0], [0, 2, 1, 1], [3, 0, -1, 2]])]
_SCALE = 1024.0
_known: dict[str, bool] = {}


def depends_on_scale(rule: Rule | Own) -> bool:
    """Tries it: four steps, of which in one try some are scaled, and so are their losses, as by a scale that jumps. A rule
    in Python is not tried, since it may remember the trial; it counts as one that depends on the scale."""
    if isinstance(rule, Own):
        return True
    key = json.dumps([rule.name, rule.params], sort_keys=True, default=str)
    if key not in _known:
        try:
            plain, scaled = _weights(rule, 1), _weights(rule, _SCALE)
            _known[key] = not np.allclose(plain, scaled, rtol=1e-6, atol=1e-9)
        except Error:  # a rule of serial continual learning that wants other streams, or that refuses the scaled losses
            _known[key] = True
    return _known[key]


def _weights(rule: Rule, scale: float) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it was said when the rule was made
        fresh = Rule(rule.name, seed=rule.seed, **rule.params)
    found: list[Floats] = []
    for step, by in enumerate((1.0, scale, scale, 1.0)):
        j, losses = _JACOBIANS[step % 2], by * np.array([0.5, 0.25 + 0.25 * step, 1 - 0.125 * step])
        weights = fresh.weights(jacobian=by * j, losses=losses)
        found.append(fresh.direction(by * j, losses=losses) / by if rule.info["direct"] else weights)
    return np.concatenate(found)
