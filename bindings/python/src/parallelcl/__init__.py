"""Rules that turn the gradients of several losses into the weights of one step; see Rule and EMGD."""

from ._library import Error, InternalError
from ._rule import EMGD, Answer, Certificate, Rule, info, methods
from ._version import version as __version__

__all__ = ["EMGD", "Answer", "Certificate", "Error", "InternalError", "Rule", "info", "methods", "__version__"]
