"""Parameter sets: named measurements of a board, from which weights compute its value."""

from motif.parameters.named_sets import KNOWN_SETS, ParametersLike, extend, fitted_set, parameter_set
from motif.parameters.registry import Parameter, ParameterSet
from motif.parameters.sets import DEFAULT_SET, PARAMETER_SETS

__all__ = [
    "DEFAULT_SET",
    "KNOWN_SETS",
    "PARAMETER_SETS",
    "Parameter",
    "ParameterSet",
    "ParametersLike",
    "extend",
    "fitted_set",
    "parameter_set",
]
