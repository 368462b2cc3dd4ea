"""Rule and EMGDGMC: gradients in, weights out."""

import ctypes
import json
import numbers
import operator
import threading
import warnings

import numpy as np

from . import _library
from ._library import Call, Error, check_process, fail, library, quick_weights, take

_STATUS = ["optimal", "stationary", "floor-binding", "floor-infeasible", "ill-conditioned", "iteration-limit", "rows-dropped"]
_HEAD = -(-ctypes.sizeof(Call) // 8)  # in numbers of 8 bytes
_DOUBLE = np.dtype(np.float64)
_MOST = 1 << 14  # gradients that the library takes
_QUICK = 16  # gradients up to which every rule takes about a millisecond at most


def methods():
    """The names of all rules."""
    check_process()
    return json.loads(take(library.pcl_names()))


def info(name, **params):
    """What a rule does, its source and cost, its parameters, and what it needs, as a dict."""
    check_process()
    message = ctypes.create_string_buffer(_library.ERROR_SIZE)
    text = library.pcl_info(_as_text(name), _as_json(params), message, len(message))
    if not text:
        fail(message.value)
    return json.loads(take(text))


def _as_text(name):
    """The name of a rule as the library reads it, up to its first NUL, of which there must be none."""
    if not isinstance(name, str) or "\0" in name:
        raise Error(f"the name of the rule {name!r}: want a text without NUL")
    try:
        return name.encode()
    except UnicodeEncodeError:
        raise Error(f"the name of the rule {name!r} is not valid Unicode") from None


def _as_json(params):
    return json.dumps({name: _parameter(name, value) for name, value in params.items()}).encode()


def _parameter(name, value):
    """A parameter as JSON has it: numbers of NumPy and fractions, too, and infinity and NaN as texts."""
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if not isinstance(value, numbers.Real):
        raise Error(f"parameter {name}: want a number, a text or a truth value, not {type(value).__name__}")
    try:
        value = float(value)
    except OverflowError:
        raise Error(f"parameter {name}: {value} is too large") from None
    return value if np.isfinite(value) else str(value)


def _whole(value, name, least, most):
    """The value as an int within limits."""
    try:
        value = operator.index(value)
    except TypeError:
        raise Error(f"{name}: want a whole number, not {value!r}") from None
    if not least <= value <= most:
        raise Error(f"{name} is {value}; want {least} to {most}")
    return value


def _ids(values):
    """The ids as an array of whole numbers that the library can have."""
    if isinstance(values, (list, tuple)):  # NumPy would make floats of very large ones
        values = np.array([_whole(v, "one of the ids", -(2**63), 2**63 - 1) for v in values], np.int64)
    values = array(values, "ids", 1)
    if values.dtype.kind not in "iu":
        raise Error(f"ids are whole numbers, not {values.dtype}")
    if values.dtype.kind == "u" and values.size and int(values.max()) > np.iinfo(np.int64).max:  # NumPy 1 compares floats
        raise Error(f"one of the ids is {values.max()}; want at most {np.iinfo(np.int64).max}")
    return values


def array(values, name, dimensions):
    """The values as an array of numbers with so many dimensions: of lists, arrays, and tensors on any device."""
    if values is None:
        raise Error("give either gram or jacobian" if name == "gram" else f"{name} is missing")
    if isinstance(values, np.ma.MaskedArray):
        raise Error(f"{name} is a masked array, whose mask would be lost: fill it, or leave the masked streams out")
    if type(values) is not np.ndarray:
        try:
            values = np.asarray(_without_tensors(values))
        except ValueError:
            raise Error(f"{name}: the rows have different lengths") from None
    if values.dtype.kind not in "fiub" and values.size and not np.can_cast(values.dtype, _DOUBLE):  # as bfloat16 can be
        raise Error(f"{name}: want numbers, not {values.dtype}")
    if values.ndim != dimensions:
        raise Error(f"{name} has the shape {values.shape}; want {dimensions} dimension{'s' if dimensions > 1 else ''}")
    return values


def _without_tensors(values):
    """The values with arrays in place of PyTorch's tensors, also in lists."""
    if isinstance(values, (list, tuple)):
        return [_without_tensors(v) for v in values]
    if not hasattr(values, "detach"):
        return values
    values = values.detach().cpu()
    if values.is_floating_point() and str(values.dtype) not in ("torch.float16", "torch.float32", "torch.float64"):
        values = values.double()  # NumPy has no bfloat16
    return values.resolve_conj().resolve_neg().numpy()


class _Buffers:
    """The memory of calls with k rows, which later calls use again. The struct of the call and the answer lie in one
    block, so that one copy keeps the whole answer."""

    def __init__(self, k):
        self.k, self.shape = k, (k, k)
        self.block = np.zeros(_HEAD + 3 * k + -(-2 * k // 8))
        self.weights = self.block[_HEAD : _HEAD + k]
        self.function = quick_weights if k <= _QUICK else library.pcl_weights
        self.gram, self.losses, self.factors, self.ids = np.zeros((k, k)), np.zeros(k), np.zeros(k), np.zeros(k, np.int64)
        self.error = ctypes.create_string_buffer(_library.ERROR_SIZE)
        self.call = call = Call.from_buffer(self.block)
        self.pointer = ctypes.c_void_p(self.block.ctypes.data)
        call.k, call.gram = k, self.gram.ctypes.data
        call.error, call.error_size = ctypes.addressof(self.error), len(self.error)
        at = self.weights.ctypes.data
        call.weights, call.sigma, call.slacks, call.active, call.left_out = at, at + 8 * k, at + 16 * k, at + 24 * k, at + 25 * k

    def fill(self, to, values, name):
        """Copies an argument to its place, whose address it returns."""
        values = _ids(values) if to is self.ids else array(values, name, 1)
        if len(values) != self.k:
            raise Error(f"{len(values)} {name} for {self.k} gradients")
        to[...] = values
        return to.ctypes.data


class Certificate:
    """The proof that weights are optimal: see `go doc emgd.Certificate`. Rows are counted from 0."""

    def __init__(self, answer):
        k, block, call = answer._k, answer._block, Call.from_buffer(answer._block)
        self.sigma = block[_HEAD + k : _HEAD + 2 * k]
        self.slacks = block[_HEAD + 2 * k : _HEAD + 3 * k]
        self.active = answer._rows(0)
        self.dropped = answer.left_out
        for name in ("norm2", "level", "violation", "gap", "cancellation", "floor", "exponent", "iterations"):
            setattr(self, name, getattr(call, name))
        self.status = _STATUS[call.status]

    @property
    def message(self):
        """What the status means, what to try, and which rows were left out."""
        check_process()
        text = take(library.pcl_message(_STATUS.index(self.status))).decode()
        if not self.dropped:
            return text
        rows = f"row{'s' if len(self.dropped) > 1 else ''} {' '.join(map(str, self.dropped))}"
        return f"{text}; left out, as zero next to the longest gradient: {rows} (counted from 0)"

    def __repr__(self):
        return f"Certificate(status={self.status!r}, sigma={self.sigma}, slacks={self.slacks}, gap={self.gap:.3g})"


class Answer:
    """What a rule says of one problem."""

    def __init__(self, block, k):
        self._block, self._k = block, k
        self.weights = block[_HEAD : _HEAD + k]

    @property
    def certificate(self):
        """The proof of optimality; None for rules without one."""
        return Certificate(self) if Call.from_buffer(self._block).status >= 0 else None

    @property
    def left_out(self):
        """The rows, counted from 0, whose gradient is negligible beside the longest one. Their weight is 0."""
        return self._rows(1)

    def _rows(self, flag):
        """The rows that have a flag: the first is that of active rows, the second that of rows left out."""
        k = self._k
        return np.flatnonzero(self._block[_HEAD + 3 * k :].view(np.uint8)[flag * k : (flag + 1) * k]).tolist()

    def __repr__(self):
        return f"Answer(weights={self.weights}, certificate={self.certificate})"


class Rule:
    """A rule by its name, with its parameters; methods() lists the names, info(name) describes one. A rule may remember
    something of each stream of gradients: see state. It may be used by several threads, which wait for each other."""

    def __init__(self, name, *, seed=0, **params):
        check_process()
        self._handle = 0
        self.name, self.params, self.seed = name, params, _whole(seed, "seed", 0, 2**64 - 1)
        self._lock = threading.Lock()
        self._buffers = {}
        self._last = None
        self.info = info(name, **params)
        message = ctypes.create_string_buffer(_library.ERROR_SIZE)
        handle = library.pcl_open(_as_text(name), _as_json(params), self.seed, message, len(message))
        if not handle:
            fail(message.value)
        self._handle = ctypes.c_uint64(handle)
        if self.info["leaves_out"]:
            warnings.warn(f"{name} also has {' and '.join(self.info['leaves_out'])}, which this package leaves out: the weights are those for the rows as given", stacklevel=2)

    def weights(self, gram=None, jacobian=None, losses=None, *, ids=None, factors=None):
        """The K weights of one step, from the K×K Gram matrix JJᵀ or the K×P Jacobian J of K losses. Give losses to rules
        that read them (info["needs_losses"]). ids are the streams' ids, whole numbers, 0 for the memory; without them the
        rows are streams 1, 2, … factors are elastic factors to use instead of computed ones. The rest of the answer is in
        last."""
        if jacobian is not None:
            return self._from_jacobian(gram, jacobian, losses, ids, factors, False)[0]
        if _library.forked:  # before the lock, which another thread may have held when this process was forked
            check_process()
        self._last = None
        if type(gram) is not np.ndarray or gram.dtype is not _DOUBLE:
            gram = array(gram, "gram", 2)
        b = self._buffers.get(gram.shape) or self._square(gram.shape)
        with self._lock:
            b.gram[...] = gram
            if losses is None and ids is None and factors is None:
                code = b.function(self._handle, b.pointer)
            else:
                self._buffers.pop(b.shape, None)  # Ctrl-C would leave it half prepared: then it is not used again
                code = self._with_options(b, b.function, losses, ids, factors)
                self._buffers[b.shape] = b
            if code:
                fail(b.error.value)
            self._last = b
            return b.weights.copy()

    def direction(self, jacobian, losses=None, *, ids=None, factors=None):
        """The step's direction: the sum of the weighted rows, or what the rule itself returns (info["direct"])."""
        return self._from_jacobian(None, jacobian, losses, ids, factors, True)[1]

    @property
    def last(self):
        """The answer of the latest call, without a direction; None if there was none, or if it failed."""
        check_process()
        with self._lock:
            b = self._last
            return Answer(b.block.copy(), b.k) if b else None

    def _from_jacobian(self, gram, jacobian, losses, ids, factors, want):
        """The weights, and the direction if it is wanted, of the same call."""
        check_process()
        self._last = None
        if gram is not None:
            raise Error("give either gram or jacobian")
        jacobian = array(jacobian, "jacobian", 2)
        k, columns = jacobian.shape
        if columns == 0:
            raise Error(f"jacobian has the shape {jacobian.shape}; it is empty")
        single = jacobian.dtype == np.float32
        jacobian = np.ascontiguousarray(jacobian, np.float32 if single else np.float64)
        direction = np.empty(columns) if want else None
        b = self._buffers.get((k, k)) or self._new(k)
        with self._lock:
            self._buffers.pop(b.shape, None)  # as in weights
            call = b.call
            try:
                call.gram, call.columns = None, columns
                call.jacobian32, call.jacobian = (jacobian.ctypes.data, None) if single else (None, jacobian.ctypes.data)
                call.direction = direction.ctypes.data if want else None
                code = self._with_options(b, library.pcl_weights, losses, ids, factors)
            finally:
                call.jacobian = call.jacobian32 = call.direction = None
                call.gram = b.gram.ctypes.data
            self._buffers[b.shape] = b
            if code:
                fail(b.error.value)
            self._last = b
            return b.weights.copy(), direction

    def _square(self, shape):
        """The memory for a Gram matrix of this shape, which is looked at before memory is taken for it."""
        if len(shape) != 2 or shape[0] != shape[1]:
            raise Error(f"gram has the shape {shape}; want a square matrix")
        return self._new(shape[0])

    def _new(self, k):
        if k == 0:
            raise Error("there are no gradients")
        if k > _MOST:
            raise Error(f"{k} gradients; want at most {_MOST}")
        self._buffers[k, k] = b = _Buffers(k)
        return b

    def _with_options(self, b, function, losses, ids, factors):
        call = b.call
        try:
            if losses is not None:
                call.losses = b.fill(b.losses, losses, "losses")
            if ids is not None:
                call.ids = b.fill(b.ids, ids, "ids")
            if factors is not None:
                call.factors = b.fill(b.factors, factors, "factors")
            return function(self._handle, b.pointer)
        finally:
            call.losses = call.ids = call.factors = None

    def follow(self, losses, *, ids=None):
        """Passes the losses of the same batches after the step to a rule that learns from them (info["follows"])."""
        check_process()
        losses = np.ascontiguousarray(array(losses, "losses", 1), np.float64)
        if ids is not None:
            ids = _ids(ids)
            if len(ids) != len(losses):
                raise Error(f"{len(losses)} losses for the ids {ids}")
            ids = np.ascontiguousarray(ids, np.int64)
        self._do(library.pcl_follow, len(losses), ids.ctypes.data if ids is not None else None, losses.ctypes.data)

    def end(self, id):
        """Says that a stream has ended: the rule forgets it."""
        self._do(library.pcl_end, _whole(id, "id", -(2**63), 2**63 - 1))

    def _do(self, function, *arguments):
        check_process()
        message = ctypes.create_string_buffer(_library.ERROR_SIZE)
        code = function(self._handle, *arguments, message, len(message))
        if code:
            fail(message.value)

    def state(self):
        """What the rule remembers, as bytes."""
        check_process()
        message, length = ctypes.create_string_buffer(_library.ERROR_SIZE), ctypes.c_int64()
        text = library.pcl_state(self._handle, ctypes.byref(length), message, len(message))
        if not text:
            fail(message.value)
        return take(text)

    def set_state(self, state):
        """Goes on with the same bits as the rule whose state() this was; its name and parameters must be the same."""
        try:
            state = bytes(memoryview(state))
        except TypeError:
            raise Error(f"a state is bytes, as state() returns them, not {type(state).__name__}") from None
        self._do(library.pcl_set_state, state, len(state))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join([repr(self.name)] + [f'{n}={v!r}' for n, v in self.params.items()])})"

    def __getstate__(self):
        return {"name": self.name, "params": self.params, "seed": self.seed, "state": self.state()}

    def __setstate__(self, saved):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it was said when the rule was made
            Rule.__init__(self, saved["name"], seed=saved["seed"], **saved["params"])
        self.set_state(saved["state"])

    def __del__(self):
        if getattr(self, "_handle", 0) and not _library.forked:
            library.pcl_close(self._handle)


class _Named(Rule):
    def __init__(self, tau=None, *, seed=0, **params):
        given = {"tau": tau, **params}
        super().__init__(self._method, seed=seed, **{name: value for name, value in given.items() if value is not None})

    def __repr__(self):
        return f"{type(self).__name__}(" + ", ".join(f"{n}={v!r}" for n, v in self.params.items()) + ")"


class EMGDGMC(_Named):
    """Elastic Multi-Gradient Descent with factors from gradient magnitudes, the method "emgd-gmc": the shortest sum of
    weighted gradients with Σλσ = 1, λ ≥ 0. tau is the temperature of the elastic factors σ, momentum the share of the past
    in the moving means, floor a lower bound of λ; rescale as for every rule."""

    _method = "emgd-gmc"


class EMGDGS(_Named):
    """EMGDGMC with factors from the similarities of gradients, the method "emgd-gs". It has no momentum."""

    _method = "emgd-gs"


class EMGDLog(_Named):
    """EMGDGMC with factors from powers of the magnitudes, the method "emgd-log"."""

    _method = "emgd-log"


class Recommended(_Named):
    """The recommended method, "emgd" on the command line: EMGDLog and a rehearsal. Outside of a learner it is the rule alone,
    and says so in a warning. Besides those of EMGDLog it has the parameters alpha and pool."""

    _method = "emgd"


class EMGD(Rule):
    """An alias of EMGDGMC, EMGDGS and EMGDLog, by factors: "gmc", "gs" or "log". It is not "emgd" of the command line, which
    is Recommended."""

    def __init__(self, factors="gmc", tau=None, *, momentum=None, floor=None, rescale=None, seed=0):
        if factors not in ("gmc", "gs", "log"):
            raise Error(f'factors {factors!r}: want "gmc", "gs" or "log"')
        given = {"tau": tau, "momentum": momentum, "floor": floor, "rescale": rescale}
        super().__init__("emgd-" + factors, seed=seed, **{name: value for name, value in given.items() if value is not None})

    def __repr__(self):
        return "EMGD(" + ", ".join([f"factors={self.name[5:]!r}"] + [f"{n}={v!r}" for n, v in self.params.items()]) + ")"
