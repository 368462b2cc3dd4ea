"""What callers give, as the library reads it: names, parameters, ids, and arrays of any of the usual libraries."""

from __future__ import annotations

import json
import numbers
import operator
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ._library import Error

Values: TypeAlias = npt.ArrayLike
"""Numbers: lists, arrays of NumPy or JAX, tensors on any device, and lists of them."""

Floats: TypeAlias = npt.NDArray[np.float64]
Parameter: TypeAlias = float | str | bool

DOUBLE = np.dtype(np.float64)


def as_text(name: str) -> bytes:
    """The name of a rule as the library reads it, up to its first NUL, of which there must be none."""
    if not isinstance(name, str) or "\0" in name:
        raise Error(f"the name of the rule {name!r}: want a text without NUL")
    try:
        return name.encode()
    except UnicodeEncodeError:
        raise Error(f"the name of the rule {name!r} is not valid Unicode") from None


def as_json(params: dict[str, Parameter]) -> bytes:
    return json.dumps({name: _parameter(name, value) for name, value in params.items()}).encode()


def _parameter(name: str, value: object) -> Parameter:
    """A parameter as JSON has it: numbers of NumPy and fractions, too, and infinity and NaN as texts."""
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.bool_):
        return bool(cast(Any, value))
    if isinstance(value, numbers.Integral):
        return int(value)
    if not isinstance(value, numbers.Real):
        raise Error(f"parameter {name}: want a number, a text or a truth value, not {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        raise Error(f"parameter {name}: {value} is too large") from None
    return number if np.isfinite(number) else str(number)


def whole(value: Any, name: str, least: int, most: int) -> int:
    """The value as an int within limits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Error(f"{name}: want a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise Error(f"{name} is {number}; want {least} to {most}")
    return number


def stream_ids(values: Values) -> npt.NDArray[Any]:
    """The ids as an array of whole numbers that the library can have."""
    if isinstance(values, (list, tuple)):  # NumPy would make floats of very large ones
        values = np.array([whole(v, "one of the ids", -(2**63), 2**63 - 1) for v in cast(list[Any], values)], np.int64)
    ids = array(values, "ids", 1)
    if ids.dtype.kind not in "iu":
        raise Error(f"ids are whole numbers, not {ids.dtype}")
    if ids.dtype.kind == "u" and ids.size and int(ids.max()) > np.iinfo(np.int64).max:  # NumPy 1 compares floats
        raise Error(f"one of the ids is {ids.max()}; want at most {np.iinfo(np.int64).max}")
    return ids


def array(values: Values | None, name: str, dimensions: int) -> npt.NDArray[Any]:
    """The values as an array of numbers with so many dimensions."""
    if values is None:
        raise Error("give either gram or jacobian" if name == "gram" else f"{name} is missing")
    if isinstance(values, np.ma.MaskedArray):
        raise Error(f"{name} is a masked array, whose mask would be lost: fill it, or leave the masked streams out")
    if type(values) is not np.ndarray:
        try:
            values = np.asarray(_without_tensors(values))
        except ValueError:
            raise Error(f"{name}: the rows have different lengths") from None
    if values.dtype.kind not in "fiub" and values.size and not np.can_cast(values.dtype, DOUBLE):  # as bfloat16 can be
        raise Error(f"{name}: want numbers, not {values.dtype}")
    if values.ndim != dimensions:
        raise Error(f"{name} has the shape {values.shape}; want {'2 dimensions, one row for each task' if dimensions == 2 else '1 dimension'}")
    return values


def _without_tensors(values: Any) -> Any:
    """The values with arrays in place of PyTorch's tensors, also in lists."""
    if isinstance(values, (list, tuple)):
        return [_without_tensors(v) for v in cast(list[Any], values)]
    if not hasattr(values, "detach"):
        return values
    values = values.detach().cpu()
    if values.is_floating_point() and str(values.dtype) not in ("torch.float16", "torch.float32", "torch.float64"):
        values = values.double()  # NumPy has no bfloat16
    return values.resolve_conj().resolve_neg().numpy()
