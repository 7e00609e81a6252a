"""What is measured on a board: named parameters, in sets, from one registry."""

from motif.parameters.registry import Parameter, ParameterSet
from motif.parameters.sets import DEFAULT_SET, PARAMETER_SETS, parameter_set

__all__ = ["DEFAULT_SET", "PARAMETER_SETS", "Parameter", "ParameterSet", "parameter_set"]
