"""Rule and EMGDGMC: gradients in, weights out."""

from __future__ import annotations

import ctypes
import json
import threading
import warnings
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from . import _library
from ._answer import HEAD, Answer, Certificate, call_in
from ._library import Error, check_process, fail, library, quick_weights, take
from ._values import DOUBLE, Floats, Parameter, Values, array, as_json, as_text, stream_ids, whole

_RENAMED = "factors, the K elastic factors of a call, are now given as sigma"
_MOST = 1 << 14  # gradients that the library takes
_QUICK = 16  # gradients up to which every rule takes about a millisecond at most


def methods() -> list[str]:
    """The names of all rules."""
    check_process()
    names: list[str] = json.loads(take(library.pcl_names()))
    return names


def info(name: str, **params: Parameter) -> dict[str, Any]:
    """What a rule does, its source and cost, its parameters, and what it needs, as a dict."""
    check_process()
    message = ctypes.create_string_buffer(_library.ERROR_SIZE)
    text = library.pcl_info(as_text(name), as_json(params), message, len(message))
    if not text:
        fail(message.value)
    about: dict[str, Any] = json.loads(take(text))
    return about


def check(jacobian: Values) -> Certificate:
    """Raises Error, which says what is wrong and what is wanted, unless the Jacobian is a matrix of finite floats with one
    row for each task and one column for each parameter, and the certificate of EMGDGMC's weights for it holds. Returns that
    certificate; its status is "stationary" if no direction is known to lower every loss."""
    values = array(jacobian, "jacobian", 2)
    rows, columns = values.shape
    if values.dtype.kind in "iub":
        raise Error(f"jacobian has entries of type {values.dtype}; want floats, such as those of jacobian.astype(float)")
    if rows > max(columns, 100):
        raise Error(f"jacobian has {rows} rows of {columns}; want one row for each task, one column for each parameter, which jacobian.T may have")
    rule = EMGDGMC()
    rule.weights(jacobian=values)
    if rule.certificate.status not in ("optimal", "stationary"):
        raise Error(f"jacobian: the certificate fails: {rule.certificate.message}")
    return rule.certificate


class _Buffers:
    """The memory of calls with k rows, which later calls use again. The struct of the call and the answer lie in one
    block, so that one copy keeps the whole answer."""

    def __init__(self, k: int) -> None:
        self.k, self.shape = k, (k, k)
        self.block: Floats = np.zeros(HEAD + 3 * k + -(-2 * k // 8))
        self.weights: Floats = self.block[HEAD : HEAD + k]
        self.function = quick_weights if k <= _QUICK else library.pcl_weights
        self.gram, self.losses, self.sigma, self.ids = np.zeros((k, k)), np.zeros(k), np.zeros(k), np.zeros(k, np.int64)
        self.error = ctypes.create_string_buffer(_library.ERROR_SIZE)
        self.call = call = call_in(self.block)
        self.pointer = ctypes.c_void_p(self.block.ctypes.data)
        call.k, call.gram = k, self.gram.ctypes.data
        call.error, call.error_size = ctypes.addressof(self.error), len(self.error)
        at = self.weights.ctypes.data
        call.weights, call.sigma, call.slacks, call.active, call.left_out = at, at + 8 * k, at + 16 * k, at + 24 * k, at + 25 * k

    def fill(self, to: npt.NDArray[Any], values: Values, name: str) -> int:
        """Copies an argument to its place, whose address it returns."""
        given = stream_ids(values) if to is self.ids else array(values, name, 1)
        if len(given) != self.k:
            raise Error(f"{len(given)} {name} for {self.k} gradients")
        to[...] = given
        return to.ctypes.data


class Rule:
    """A rule by its name, with its parameters; methods() lists the names, info(name) describes one. A rule may remember
    something of each stream of gradients: see state. It may be used by several threads, which wait for each other."""

    name: str
    params: dict[str, Parameter]
    seed: int
    info: dict[str, Any]
    """What info(name, **params) says of the rule."""

    def __init__(self, name: str, *, seed: int = 0, **params: Parameter) -> None:
        check_process()
        self._handle: ctypes.c_uint64 | None = None
        self.name, self.params, self.seed = name, params, whole(seed, "seed", 0, 2**64 - 1)
        self._lock = threading.Lock()
        self._buffers: dict[tuple[int, ...], _Buffers] = {}
        self._last: _Buffers | None = None
        self.info = info(name, **params)
        message = ctypes.create_string_buffer(_library.ERROR_SIZE)
        handle = library.pcl_open(as_text(name), as_json(params), self.seed, message, len(message))
        if not handle:
            fail(message.value)
        self._handle = ctypes.c_uint64(handle)
        if self.info["leaves_out"]:
            warnings.warn(f"{name} also has {' and '.join(self.info['leaves_out'])}, which this package leaves out: the weights are those for the rows as given", stacklevel=2 if type(self) is Rule else 3)

    def weights(
        self, gram: Values | None = None, jacobian: Values | None = None, losses: Values | None = None, *,
        ids: Values | None = None, sigma: Values | None = None, factors: None = None,
    ) -> Floats:
        """The K weights of one step, from the K×K Gram matrix JJᵀ or the K×P Jacobian J of K losses. Give losses to rules
        that read them (info["needs_losses"]). ids are the streams' ids, whole numbers, 0 for the memory; without them the
        rows are streams 1, 2, … sigma are K elastic factors to use instead of computed ones (its old name, factors, is
        refused). The rest of the answer is in last."""
        if factors is not None:
            raise Error(_RENAMED)
        if jacobian is not None:
            return self._from_jacobian(jacobian, losses, ids, sigma, False, gram)[0]
        if _library.forked:  # before the lock, which another thread may have held when this process was forked
            check_process()
        self._last = None
        if type(gram) is not np.ndarray or gram.dtype is not DOUBLE:
            gram = array(gram, "gram", 2)
        b = self._buffers.get(gram.shape) or self._square(gram.shape)
        with self._lock:
            b.gram[...] = gram
            if losses is None and ids is None and sigma is None:
                code = b.function(self._handle, b.pointer)
            else:
                self._buffers.pop(b.shape, None)  # Ctrl-C would leave it half prepared: then it is not used again
                code = self._with_options(b, b.function, losses, ids, sigma)
                self._buffers[b.shape] = b
            if code:
                fail(b.error.value)
            self._last = b
            return b.weights.copy()

    def direction(
        self, jacobian: Values, losses: Values | None = None, *, ids: Values | None = None, sigma: Values | None = None, factors: None = None
    ) -> Floats:
        """The step's direction, P numbers: the sum of the weighted rows, or what the rule itself returns (info["direct"])."""
        if factors is not None:
            raise Error(_RENAMED)
        return self._from_jacobian(jacobian, losses, ids, sigma, True)[1]

    @property
    def last(self) -> Answer | None:
        """The answer of the latest call, without a direction; None if there was none, or if it failed."""
        check_process()
        with self._lock:
            b = self._last
            return Answer(b.block.copy(), b.k) if b else None

    @property
    def certificate(self) -> Certificate:
        """The proof of the latest call's weights; Error if it failed, or if the rule comes without a proof."""
        answer = self.last
        proof = answer.certificate if answer else None
        if proof is None:
            raise Error(f"{self.name} has no certificate; want a call that succeeded, of a rule with a proof, such as emgd-gmc or mgda")
        return proof

    def _from_jacobian(
        self, jacobian: Values, losses: Values | None, ids: Values | None, sigma: Values | None, want: bool, gram: Values | None = None
    ) -> tuple[Floats, Floats]:
        """The weights, and the direction if it is wanted, of the same call."""
        check_process()
        self._last = None
        if gram is not None:
            raise Error("give either gram or jacobian")
        rows = array(jacobian, "jacobian", 2)
        k, columns = rows.shape
        if columns == 0:
            raise Error(f"jacobian has the shape {rows.shape}; it is empty")
        single = rows.dtype == np.float32
        rows = np.ascontiguousarray(rows, np.float32 if single else np.float64)
        direction = np.empty(columns if want else 0)
        b = self._buffers.get((k, k)) or self._new(k)
        with self._lock:
            self._buffers.pop(b.shape, None)  # as in weights
            call = b.call
            try:
                call.gram, call.columns = None, columns
                call.jacobian32, call.jacobian = (rows.ctypes.data, None) if single else (None, rows.ctypes.data)
                call.direction = direction.ctypes.data if want else None
                code = self._with_options(b, library.pcl_weights, losses, ids, sigma)
            finally:
                call.jacobian = call.jacobian32 = call.direction = None
                call.gram = b.gram.ctypes.data
            self._buffers[b.shape] = b
            if code:
                fail(b.error.value)
            self._last = b
            return b.weights.copy(), direction

    def _square(self, shape: tuple[int, ...]) -> _Buffers:
        """The memory for a Gram matrix of this shape, which is looked at before memory is taken for it."""
        if len(shape) != 2 or shape[0] != shape[1]:
            raise Error(f"gram has the shape {shape}; want a square matrix")
        return self._new(shape[0])

    def _new(self, k: int) -> _Buffers:
        if k == 0:
            raise Error("there are no gradients")
        if k > _MOST:
            raise Error(f"{k} gradients; want at most {_MOST}")
        self._buffers[k, k] = b = _Buffers(k)
        return b

    def _with_options(self, b: _Buffers, function: Any, losses: Values | None, ids: Values | None, sigma: Values | None) -> int:
        call = b.call
        try:
            if losses is not None:
                call.losses = b.fill(b.losses, losses, "losses")
            if ids is not None:
                call.ids = b.fill(b.ids, ids, "ids")
            if sigma is not None:
                call.factors = b.fill(b.sigma, sigma, "elastic factors in sigma")
            code: int = function(self._handle, b.pointer)
            return code
        finally:
            call.losses = call.ids = call.factors = None

    def follow(self, losses: Values, *, ids: Values | None = None) -> None:
        """Passes the losses of the same batches after the step to a rule that learns from them (info["follows"])."""
        check_process()
        after = np.ascontiguousarray(array(losses, "losses", 1), np.float64)
        named = None if ids is None else np.ascontiguousarray(stream_ids(ids), np.int64)
        if named is not None and len(named) != len(after):
            raise Error(f"{len(after)} losses for the ids {named}")
        self._do(library.pcl_follow, len(after), None if named is None else named.ctypes.data, after.ctypes.data)

    def end(self, id: int) -> None:
        """Says that a stream has ended: the rule forgets it."""
        self._do(library.pcl_end, whole(id, "id", -(2**63), 2**63 - 1))

    def _do(self, function: Any, *arguments: Any) -> None:
        check_process()
        message = ctypes.create_string_buffer(_library.ERROR_SIZE)
        code = function(self._handle, *arguments, message, len(message))
        if code:
            fail(message.value)

    def state(self) -> bytes:
        """What the rule remembers, as bytes."""
        check_process()
        message, length = ctypes.create_string_buffer(_library.ERROR_SIZE), ctypes.c_int64()
        text = library.pcl_state(self._handle, ctypes.byref(length), message, len(message))
        if not text:
            fail(message.value)
        return take(text)

    def set_state(self, state: bytes | bytearray | memoryview) -> None:
        """Goes on with the same bits as the rule whose state() this was; its name and parameters must be the same."""
        try:
            saved = bytes(memoryview(state))
        except TypeError:
            raise Error(f"a state is bytes, as state() returns them, not {type(state).__name__}") from None
        self._do(library.pcl_set_state, saved, len(saved))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([repr(self.name)] + [f'{n}={v!r}' for n, v in self.params.items()])})"

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "params": self.params, "seed": self.seed, "state": self.state()}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it was said when the rule was made
            Rule.__init__(self, saved["name"], seed=saved["seed"], **saved["params"])
        self.set_state(saved["state"])

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and not _library.forked:
            library.pcl_close(self._handle)


class _Named(Rule):
    _method: ClassVar[str]

    def __init__(self, tau: float | str | None = None, *, seed: int = 0, **params: Parameter | None) -> None:
        given = {"tau": tau, **params}
        super().__init__(self._method, seed=seed, **{name: value for name, value in given.items() if value is not None})

    def __repr__(self) -> str:
        return f"{type(self).__name__}(" + ", ".join(f"{n}={v!r}" for n, v in self.params.items()) + ")"


class EMGDGMC(_Named):
    """Elastic Multi-Gradient Descent with factors from gradient magnitudes, the method "emgd-gmc": the shortest sum of
    weighted gradients with Σλσ = 1, λ ≥ 0. tau is the temperature of the elastic factors σ, momentum the share of the past
    in the moving averages, floor a lower bound of λ; rescale as for every rule."""

    _method = "emgd-gmc"


class EMGDGS(_Named):
    """EMGDGMC with factors from the similarities of gradients, the method "emgd-gs". It has no momentum."""

    _method = "emgd-gs"


class EMGDLog(_Named):
    """EMGDGMC with factors from powers of the magnitudes, the method "emgd-log"."""

    _method = "emgd-log"


class Recommended(_Named):
    """The rule of the recommended method, "emgd" on the command line: the weights of EMGDLog(1.5, momentum=0). The method's
    rehearsal is that of a learner; a warning says that it is left out here, and its parameters alpha and pool do nothing."""

    _method = "emgd"


class EMGD(Rule):
    """An older name of EMGDGMC, EMGDGS and EMGDLog, by the kind of their factors: "gmc", "gs" or "log" (kind was called
    factors, which is refused). It is not "emgd" of the command line, which is Recommended."""

    def __init__(
        self, kind: str = "gmc", tau: float | str | None = None, *,
        momentum: float | None = None, floor: float | str | None = None, rescale: str | None = None, seed: int = 0, factors: None = None,
    ) -> None:
        if factors is not None:
            raise Error('factors is now kind, as in EMGD(kind="gmc"), or the name of a class: EMGDGMC, EMGDGS, EMGDLog')
        if kind not in ("gmc", "gs", "log"):
            raise Error(f'kind {kind!r}: want "gmc", "gs" or "log"')
        given = {"tau": tau, "momentum": momentum, "floor": floor, "rescale": rescale}
        super().__init__("emgd-" + kind, seed=seed, **{name: value for name, value in given.items() if value is not None})

    def __repr__(self) -> str:
        return "EMGD(" + ", ".join([f"kind={self.name[5:]!r}"] + [f"{n}={v!r}" for n, v in self.params.items()]) + ")"
