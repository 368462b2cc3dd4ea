"""Rules that turn the gradients of several losses into the weights of one step; see Rule and EMGDGMC."""

from ._library import Error, InternalError
from ._rule import EMGD, EMGDGMC, EMGDGS, Answer, Certificate, EMGDLog, Recommended, Rule, info, methods
from ._version import version as __version__

__all__ = ["EMGD", "EMGDGMC", "EMGDGS", "Answer", "Certificate", "EMGDLog", "Error", "InternalError", "Recommended", "Rule", "info", "methods", "__version__"]
