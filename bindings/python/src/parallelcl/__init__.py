"""Rules that turn the gradients of several losses into the weights of one step; see Rule and EMGDGMC."""

from ._answer import Answer, Certificate
from ._library import Error, InternalError
from ._own import AnyRule, Own, RuleFunction
from ._rule import EMGD, EMGDGMC, EMGDGS, EMGDLog, Recommended, Rule, check, info, methods
from ._version import version as __version__

__all__ = [
    "EMGD", "EMGDGMC", "EMGDGS", "Answer", "Certificate", "EMGDLog", "Error", "InternalError", "Own", "Recommended", "Rule",
    "RuleFunction", "AnyRule",
    "check", "info", "methods", "__version__",
]
