"""backward: the gradients of several losses, and their weighted sum, in PyTorch."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain
from typing import Any, Literal, TypeAlias

import torch

from ._library import Error
from ._own import AnyRule, Own, as_rule
from ._rule import Rule
from ._scale import depends_on_scale
from ._values import Values

Parameters: TypeAlias = torch.nn.Module | torch.Tensor | Iterable[torch.Tensor]
"""A module, a list of tensors, or an iterator such as net.parameters()."""


def backward(
    losses: Sequence[torch.Tensor] | torch.Tensor, parameters: Parameters, rule: AnyRule, *, ids: Values | None = None,
    own: Sequence[Parameters | None] | None = None, scaler: torch.amp.GradScaler | None = None, grad_scale: float | torch.Tensor | None = None,
    nonfinite: Literal["raise", "skip"] | None = None, group: torch.distributed.ProcessGroup | None = None, retain_graph: bool = False,
) -> torch.Tensor:
    """Like loss.backward() for several losses at once: computes the gradient of each, asks the rule for the weights, and
    adds the weighted sum to the parameters' grad. Returns the K weights, a tensor of float64 on the CPU.

    own         for each loss the parameters that it alone trains, such as its head: the same pass adds the loss's own
                gradient to their grad, with the weight 1
    scaler      a GradScaler: losses are scaled by it (unless scaler.scale has done that), the rule sees what they are
                without the scale, and grad is left scaled, as scaler.step expects
    grad_scale  instead: the factor by which the losses have been multiplied already
    nonfinite   "skip" (default with a scaler): where a gradient is not finite the rule isn't asked, the weights are NaN, and
                grad gets what is not finite, so that scaler.step skips and scaler.update lowers the scale. "raise" is an Error
    group       a process group, such as torch.distributed.group.WORLD, whose processes call backward with shares of each batch,
                as under DistributedDataParallel: gradients and losses are averaged over them, before the rule and for grad"""
    held, (scaled, scale) = as_rule(rule), scaled_by(losses, scaler, grad_scale)
    shared = trained(parameters, "parameters")
    heads = _heads(own, len(scaled), shared)
    rows, owned = rows_of(list(scaled), shared, heads, retain_graph)
    with torch.no_grad():
        if group is not None:
            scaled = [loss.detach().clone() for loss in scaled]
            _average([*scaled, *chain.from_iterable(rows), *(g for _, g in owned)], group)
        products = gram(rows)
        if group is not None:  # so that all have the same weights, whatever the order of their sums
            _average([products], group)
        if skips(products, scaler, nonfinite):
            combine(shared, rows, [1.0] * len(rows))
            weights = torch.full((len(rows),), torch.nan, dtype=torch.float64)
        elif isinstance(held, Rule) and held.info["needs_rows"]:
            jacobian = torch.stack([torch.cat([exact(g).reshape(-1).cpu() for g in row]) for row in rows]) / scale
            w, d = held._from_jacobian(jacobian, values_of(scaled, scale, held), ids, None, True)
            weights, parts = torch.from_numpy(w), torch.split(torch.from_numpy(d) * scale, [p.numel() for p in shared])
            for p, part in zip(shared, parts):
                add(p, part.reshape(p.shape).to(p, copy=True))
        else:
            if scaler is None and grad_scale is None:
                _watch(rule, held, products)
            weights = torch.from_numpy(held.weights(products / scale**2, losses=values_of(scaled, scale, held), ids=ids))
            combine(shared, rows, [float(w) for w in weights])
        for p, g in owned:
            add(p, g)
    return weights


def values_of(losses: Sequence[torch.Tensor] | torch.Tensor, scale: float, held: Rule | Own) -> list[float] | None:
    """The values of the losses without the scale, for a rule that reads them."""
    if not held.info["needs_losses"]:
        return None
    return [float(loss) / scale for loss in (losses.detach().cpu() if isinstance(losses, torch.Tensor) else losses)]


def skips(products: torch.Tensor, scaler: torch.amp.GradScaler | None, nonfinite: str | None) -> bool:
    """Whether a step whose Gram matrix isn't finite is left to the GradScaler."""
    if nonfinite not in (None, "raise", "skip"):
        raise Error(f'nonfinite={nonfinite!r}; want "raise" or "skip"')
    return nonfinite != "raise" and (nonfinite == "skip" or scaler is not None) and not bool(torch.isfinite(products).all())


def _average(tensors: list[torch.Tensor], group: torch.distributed.ProcessGroup) -> None:
    """The mean over the processes of a group, in place."""
    for t in tensors:
        torch.distributed.all_reduce(t, group=group)
        t /= torch.distributed.get_world_size(group)


def rows_of(
    losses: Sequence[torch.Tensor], shared: Sequence[torch.Tensor], heads: Sequence[Sequence[torch.Tensor]] | None = None, retain_graph: bool = False
) -> tuple[list[list[torch.Tensor]], list[tuple[torch.Tensor, torch.Tensor]]]:
    """The gradient of each loss, as a list of tensors, and what each adds to the parameters of its own head."""
    rows: list[list[torch.Tensor]] = []
    owned: list[tuple[torch.Tensor, torch.Tensor]] = []
    for i, loss in enumerate(losses):
        mine: Sequence[torch.Tensor] = heads[i] if heads else []
        try:
            found: Sequence[torch.Tensor | None] = torch.autograd.grad(loss, [*shared, *mine], retain_graph=retain_graph or i + 1 < len(losses), allow_unused=True)
        except RuntimeError as e:
            if "second time" not in str(e):
                raise
            raise Error(
                f"loss {i + 1}: an earlier backward has freed its graph; give parameters of one loss, such as heads, by own=, instead of a second "
                "backward, and with retain_graph=True the first keeps the graph"
            ) from e
        if mine and all(g is None for g in found[len(shared) :]):
            raise Error(f"own, entry {i + 1}: loss {i + 1} does not depend on these parameters; want its own head, in the order of the losses")
        rows.append([torch.zeros_like(p) if g is None else g for p, g in zip(shared, found)])
        owned += [(p, g) for p, g in zip(mine, found[len(shared) :]) if g is not None]
    return rows, owned


def gram(rows: Sequence[Sequence[torch.Tensor]]) -> torch.Tensor:
    """The Gram matrix of gradients, each a list of tensors, in float64 on the CPU. Where each process has gradients of a part of
    the parameters, the sum of their matrices is that of the whole."""
    totals: dict[torch.device, torch.Tensor] = {}
    for column in zip(*rows):
        j = exact(torch.stack([g.reshape(-1) for g in column]))
        totals[j.device] = totals[j.device] + j @ j.T if j.device in totals else j @ j.T
    return torch.stack([total.cpu().double() for total in totals.values()]).sum(0)


def combine(parameters: Sequence[torch.Tensor], rows: Sequence[Sequence[torch.Tensor]], weights: Sequence[float]) -> None:
    """Adds the weighted sum of gradients to the parameters' grad."""
    for p, column in zip(parameters, zip(*rows)):
        add(p, reduce(torch.add, (w * g for w, g in zip(weights, column))))


def exact(x: torch.Tensor) -> torch.Tensor:
    """The tensor in float64, or in float32 on Apple's GPUs, which have no float64."""
    return x.float() if x.device.type == "mps" else x.double()


def trained(parameters: Parameters | None, name: str) -> list[torch.Tensor]:
    """The tensors that get a gradient, each once."""
    if isinstance(parameters, torch.nn.Module):
        parameters = parameters.parameters()
    elif isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    given = list(parameters or [])
    for p in given:
        if not isinstance(p, torch.Tensor):
            raise Error(f"{name} has a {type(p).__name__}; want a module, tensors, or an iterator of tensors such as net.parameters()")
    found = list({id(p): p for p in given if p.requires_grad}.values())
    if not found:
        why = "has no tensor that requires a gradient" if given else "is empty; an iterator such as net.parameters() can be used once only"
        raise Error(f"{name} {why}; want a module or a list, such as list(net.parameters())")
    return found


def _heads(own: Sequence[Parameters | None] | None, k: int, shared: Sequence[torch.Tensor]) -> list[list[torch.Tensor]] | None:
    if own is None:
        return None
    if isinstance(own, (torch.Tensor, torch.nn.Parameter)) or not isinstance(own, (Sequence, torch.nn.ModuleList)) or len(own) != k:
        raise Error(f"own: want a list with an entry for each of the {k} losses: its head's parameters, or None")
    heads = [[] if of is None else trained(of, f"own, entry {i + 1}") for i, of in enumerate(own)]
    both = {id(p) for p in shared} & {id(p) for p in chain.from_iterable(heads)}
    if both:
        raise Error(f"own: {len(both)} tensors are among the shared parameters, too; give as parameters only what all losses train, such as net.trunk")
    return heads


def add(p: torch.Tensor, step: torch.Tensor) -> None:
    """Adds to a parameter's grad."""
    if p.grad is None:
        p.grad = step
    else:
        p.grad.add_(step)


def scaled_by(
    losses: Sequence[torch.Tensor] | torch.Tensor, scaler: torch.amp.GradScaler | None, grad_scale: float | torch.Tensor | None
) -> tuple[list[torch.Tensor] | torch.Tensor, float]:
    """The losses multiplied by the scale, in a list or in one tensor as they were given, and the scale."""
    given = losses.flatten() if isinstance(losses, torch.Tensor) else list(losses)
    if isinstance(losses, torch.Tensor):
        fits = losses.ndim > 0 and losses.numel() == len(losses)
    else:
        fits = all(isinstance(x, torch.Tensor) and x.numel() == 1 for x in given)
    if not fits or not len(given):
        raise Error("losses: want a list of tensors of one number each, or a tensor of K numbers")
    if scaler is not None and grad_scale is not None:
        raise Error("give either scaler or grad_scale")
    scale = float(scaler.get_scale() if scaler is not None else 1 if grad_scale is None else grad_scale)
    if not 0 < scale < float("inf"):
        raise Error(f"grad_scale is {scale}; want a positive number")
    # A scaler whose scale method was never called has no scale yet, and its step would fail.
    if scaler is not None and (scale == 1 or not _multiplied(losses if isinstance(losses, torch.Tensor) else given[0], scale)):
        given = scaler.scale(given) if isinstance(given, torch.Tensor) else [scaler.scale(x) for x in given]
    return given, scale


_VIEWS = ("Unbind", "Select", "Stack", "Squeeze", "Unsqueeze", "View", "Reshape", "Alias", "Cat")


def _multiplied(loss: torch.Tensor, scale: float) -> bool:
    """Whether scaler.scale has made this loss: its graph ends in the product with the scale, maybe in a list or a view of that."""
    node: Any = loss.grad_fn
    while node is not None and node.name().startswith(_VIEWS):
        node = node.next_functions[0][0]
    if node is None or not node.name().startswith("Mul"):
        return False
    for name in ("_saved_other", "_saved_self"):
        factor = getattr(node, name, None)
        if isinstance(factor, torch.Tensor) and factor.numel() == 1 and not factor.requires_grad and float(factor) == scale:
            return True
    return False


class _Seen:
    """What earlier calls with a rule have seen, if it depends on the gradients' scale."""

    def __init__(self, depends: bool) -> None:
        self.depends, self.last = depends, 0.0


_seen: "weakref.WeakKeyDictionary[Any, _Seen]" = weakref.WeakKeyDictionary()


def _watch(rule: AnyRule, held: Rule | Own, products: torch.Tensor) -> None:
    """Warns, once for each rule whose weights depend on the gradients' scale, where the loss seems to be scaled."""
    try:
        seen = _seen.get(rule)
        first = seen is None
        if seen is None:
            seen = _seen[rule] = _Seen(depends_on_scale(held))
    except TypeError:  # an object of the user's that can't be a key
        return
    if first:
        if seen.depends and any(issubclass(type(x), torch.amp.GradScaler) and x.is_enabled() for x in gc.get_objects()):
            seen.depends = False
            _warn(held, "a GradScaler is in use")
    if seen.depends:
        size = float(products.diagonal().max())
        if 0 < size and 0 < seen.last and not 2.0**-16 < size / seen.last < 2.0**16:
            seen.depends = False
            _warn(held, f"the longest gradient is {(size / seen.last) ** 0.5:.3g} times that of the step before")
        seen.last = size


def _warn(held: Rule | Own, why: str) -> None:
    warnings.warn(f"{held.name}'s weights depend on the scale of the losses, and {why}: give scaler=, or grad_scale=, to backward", stacklevel=4)

