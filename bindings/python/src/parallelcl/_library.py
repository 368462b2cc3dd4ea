"""The C library: its functions, the struct of a call, and its errors. The header parallelcl.h describes them."""

import ctypes
import os
import pathlib
import sys
from typing import NoReturn

ABI = 1
ERROR_SIZE = 1024

_NAMES = {"darwin": "libparallelcl.dylib", "win32": "parallelcl.dll"}


class Error(ValueError):
    """The input is refused. The rule remembers what it remembered before."""


class InternalError(RuntimeError):
    """A mistake in the library. The rule is of no more use."""


class Call(ctypes.Structure):
    _fields_ = [
        ("k", ctypes.c_int64),
        ("columns", ctypes.c_int64),
        ("gram", ctypes.c_void_p),
        ("jacobian", ctypes.c_void_p),
        ("jacobian32", ctypes.c_void_p),
        ("losses", ctypes.c_void_p),
        ("ids", ctypes.c_void_p),
        ("factors", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
        ("direction", ctypes.c_void_p),
        ("left_out", ctypes.c_void_p),
        ("sigma", ctypes.c_void_p),
        ("slacks", ctypes.c_void_p),
        ("active", ctypes.c_void_p),
        ("norm2", ctypes.c_double),
        ("level", ctypes.c_double),
        ("violation", ctypes.c_double),
        ("gap", ctypes.c_double),
        ("cancellation", ctypes.c_double),
        ("floor", ctypes.c_double),
        ("exponent", ctypes.c_int64),
        ("iterations", ctypes.c_int64),
        ("status", ctypes.c_int64),
        ("error", ctypes.c_void_p),
        ("error_size", ctypes.c_int64),
    ]


def _path() -> str:
    named = os.environ.get("PARALLELCL_LIBRARY")
    if named:
        return os.path.abspath(named)  # a name without a folder would be looked for in the system's folders
    return str(pathlib.Path(__file__).with_name(_NAMES.get(sys.platform, "libparallelcl.so")))


def _load() -> ctypes.CDLL:
    path = _path()
    if not os.path.exists(path):
        raise ImportError(f"parallelcl: the library {path} is missing; install the wheel, or name the library in PARALLELCL_LIBRARY")
    try:
        library = ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(f"parallelcl: the library {path} cannot be loaded, it may be for another system: {e}") from None
    library.pcl_abi.restype = ctypes.c_int64
    if library.pcl_abi() != ABI:
        raise ImportError(f"parallelcl: {path} has version {library.pcl_abi()} of the interface, this package needs {ABI}; install both from one wheel")
    handle, number, text, pointer = ctypes.c_uint64, ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p
    error = [pointer, number]
    for name, result, arguments in [
        ("pcl_open", handle, [text, text, ctypes.c_uint64, *error]),
        ("pcl_close", None, [handle]),
        ("pcl_weights", number, [handle, pointer]),
        ("pcl_follow", number, [handle, number, pointer, pointer, *error]),
        ("pcl_end", number, [handle, number, *error]),
        ("pcl_state", pointer, [handle, pointer, *error]),
        ("pcl_set_state", number, [handle, text, number, *error]),
        ("pcl_info", pointer, [text, text, *error]),
        ("pcl_names", pointer, []),
        ("pcl_message", pointer, [number]),
        ("pcl_free", None, [pointer]),
    ]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = _load()

# A call that takes microseconds does not give Python's lock (GIL) up, which would cost as much as the call.
quick_weights = ctypes.PyDLL(_path()).pcl_weights
quick_weights.restype = ctypes.c_int64

forked = False


def _after_fork() -> None:
    global forked
    forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def check_process() -> None:
    """Go's threads do not survive fork(), and a call without them may hang."""
    if forked:
        raise RuntimeError('parallelcl was loaded before this process was forked: import it in the child, or start processes with the "spawn" method')


def fail(message: bytes) -> NoReturn:
    """Raises the error of a call. Not every function returns a code, so the text tells a mistake in the library."""
    text = message.decode("utf-8", "replace")
    raise InternalError(text) if text.startswith("internal error") else Error(text)


def take(pointer: int) -> bytes:
    """The bytes at a pointer from the library, which are freed."""
    try:
        return ctypes.string_at(pointer)
    finally:
        library.pcl_free(pointer)
