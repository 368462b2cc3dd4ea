"""The share of single layers in the Gram matrix of losses that have samples of their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ._backward import exact

_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class Groups:
    """Which samples belong to which loss."""

    def __init__(self, owners: npt.NDArray[np.int64], k: int) -> None:
        order = np.argsort(owners, kind="stable")[(owners < 0).sum() :]
        of = owners[order]
        self.k, self.counts = k, cast(list[int], np.bincount(of, minlength=k).tolist())
        self.order = None if np.array_equal(order, np.arange(len(owners))) else torch.from_numpy(order)
        self.even = len(set(self.counts)) == 1
        self._of = torch.from_numpy(of)

    def sort(self, x: torch.Tensor) -> torch.Tensor:
        """The samples in the order of their losses, without those that no loss has."""
        return x if self.order is None else x[self.order.to(x.device)]

    def sum(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of each group's sorted rows."""
        return torch.zeros((self.k, *x.shape[1:]), dtype=x.dtype, device=x.device).index_add_(0, self._of.to(x.device), x)

    def pairs(self, x: torch.Tensor) -> torch.Tensor:
        """The sums over pairs of groups of a matrix, whose sorted samples have as many rows each."""
        n = len(self._of)
        return self.sum(self.sum(x.reshape(n, -1, n, len(x) // n).sum((1, 3))).T.contiguous())

    def split(self, x: torch.Tensor) -> Sequence[torch.Tensor]:
        """The rows of each group."""
        parts: Sequence[torch.Tensor] = torch.split(x, self.counts)
        return parts


def unsupported(layer: nn.Module, x: torch.Tensor, samples: int) -> str | None:
    """Why the layer's share can't be computed; None if it can."""
    name = type(layer).__name__
    if type(layer) not in _RULES:
        return f"{name} is a layer that the engine does not know"
    if x.ndim < 2 and not isinstance(layer, nn.Embedding) or len(x) != samples:
        return f"{name} got an input of the shape {tuple(x.shape)}; want one row for each of {samples} samples"
    if isinstance(layer, _NORMS) and (layer.training or layer.running_mean is None):
        return f"{name} in training joins the samples of a batch"
    if isinstance(layer, nn.Conv2d) and layer.padding_mode != "zeros":
        return f"{name} has the padding {layer.padding_mode!r}"
    if isinstance(layer, nn.Embedding) and (layer.max_norm is not None or layer.scale_grad_by_freq or layer.sparse):
        return f"{name} has max_norm, scale_grad_by_freq or sparse"
    return None


def layer_gram(calls: Sequence[tuple[Any, torch.Tensor, torch.Tensor]], groups: Groups) -> torch.Tensor:
    """The Gram matrix of all parameters of the layers, from their inputs and the gradients at their outputs."""
    total = torch.zeros((groups.k, groups.k), dtype=torch.float64)
    uses: dict[int, int] = defaultdict(int)
    for layer, _, _ in calls:
        for p in layer.parameters(recurse=False):
            uses[id(p)] += 1
    shared: dict[int, torch.Tensor] = {}
    between: dict[tuple[int, torch.device], torch.Tensor] = {}
    for layer, x, g in calls:
        x, g = groups.sort(x), groups.sort(g)
        if x.is_floating_point():
            x, g = x.to(layer.weight.dtype), g.to(layer.weight.dtype)  # under autocast they may be shorter
        own = list(layer.parameters(recurse=False))
        if isinstance(layer, nn.Linear) and all(uses[id(p)] == 1 for p in own) and _few(x, g, groups.k):
            products = _linear_products(layer, x, g)
            key = (len(products), products.device)
            between[key] = between[key] + products if key in between else products
            continue
        for p, rows in _RULES[type(layer)](layer, x, g, groups):
            if uses[id(p)] > 1:
                shared[id(p)] = shared[id(p)] + rows if id(p) in shared else rows
            else:
                total += _products(rows)
    for products in between.values():
        total += groups.pairs(products).cpu().double()
    for rows in shared.values():
        total += _products(rows)
    return total


def _linear_products(layer: nn.Linear, x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    """The products of the gradients of a linear layer, each that of one row of its input: (aᵢ·aⱼ + 1)(bᵢ·bⱼ)."""
    a, b = (exact(t.reshape(-1, t.shape[-1])) for t in (x, g))
    inputs = a @ a.T if layer.weight.requires_grad else a.new_zeros(len(a), len(a))
    if layer.bias is not None and layer.bias.requires_grad:
        inputs += 1
    return inputs.mul_(b @ b.T)


def _few(x: torch.Tensor, g: torch.Tensor, k: int) -> bool:
    """Whether products of pairs of rows cost less than the gradients of a linear layer's weights, and their products."""
    width, area = x.shape[-1] + g.shape[-1], x.shape[-1] * g.shape[-1]
    rows: int = x.numel() // x.shape[-1]
    return rows <= 2048 and rows * rows * width < (rows + k * k) * area


def _products(rows: torch.Tensor) -> torch.Tensor:
    j = exact(rows.reshape(len(rows), -1))
    return (j @ j.T).cpu().double()


Rows: TypeAlias = Iterator[tuple[torch.Tensor, torch.Tensor]]


def _linear(layer: nn.Linear, x: torch.Tensor, g: torch.Tensor, groups: Groups) -> Rows:
    if layer.bias is not None and layer.bias.requires_grad:
        yield layer.bias, groups.sum(g.reshape(len(g), -1, g.shape[-1]).sum(1))
    if layer.weight.requires_grad:
        if groups.even:
            yield layer.weight, g.reshape(groups.k, -1, g.shape[-1]).mT @ x.reshape(groups.k, -1, x.shape[-1])
        else:
            parts = zip(groups.split(x), groups.split(g))
            yield layer.weight, torch.stack([b.reshape(-1, b.shape[-1]).T @ a.reshape(-1, a.shape[-1]) for a, b in parts])


def _conv2d(layer: nn.Conv2d, x: torch.Tensor, g: torch.Tensor, groups: Groups) -> Rows:
    if layer.bias is not None and layer.bias.requires_grad:
        yield layer.bias, groups.sum(g.sum((2, 3)))
    if layer.weight.requires_grad:
        yield layer.weight, torch.stack([_conv_weight(layer, a, b) for a, b in zip(groups.split(x), groups.split(g))])


def _conv_weight(layer: nn.Conv2d, x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    if isinstance(layer.padding, str):
        padding = [0, 0] if layer.padding == "valid" else [d * (k - 1) // 2 for d, k in zip(layer.dilation, layer.kernel_size)]
    else:
        padding = list(layer.padding)
    found: torch.Tensor = torch.ops.aten.convolution_backward(
        g, x, layer.weight, None, layer.stride, padding, layer.dilation, False, [0, 0], layer.groups, [False, True, False]
    )[1]
    return found


def _embedding(layer: nn.Embedding, x: torch.Tensor, g: torch.Tensor, groups: Groups) -> Rows:
    found, at = cast(tuple[torch.Tensor, torch.Tensor], torch.unique(x, return_inverse=True))
    rows = torch.zeros((groups.k, len(found), g.shape[-1]), dtype=g.dtype, device=g.device)
    for row, i, b in zip(rows, groups.split(at), groups.split(g)):
        row.index_add_(0, i.reshape(-1), b.reshape(-1, b.shape[-1]))
    if layer.padding_idx is not None:
        rows[:, found == layer.padding_idx] = 0
    yield layer.weight, rows


def _layer_norm(layer: nn.LayerNorm, x: torch.Tensor, g: torch.Tensor, groups: Groups) -> Rows:
    normal = nn.functional.layer_norm(x, layer.normalized_shape, eps=layer.eps)
    for p, terms in ((layer.weight, g * normal), (layer.bias, g)):
        if p is not None and p.requires_grad:
            yield p, groups.sum(terms.reshape(len(x), -1, *layer.normalized_shape).sum(1))


def _batch_norm(layer: Any, x: torch.Tensor, g: torch.Tensor, groups: Groups) -> Rows:
    shape = [1, -1] + [1] * (x.ndim - 2)
    normal = (x - layer.running_mean.reshape(shape)) * (layer.running_var.reshape(shape) + layer.eps).rsqrt()
    for p, terms in ((layer.weight, g * normal), (layer.bias, g)):
        if p is not None and p.requires_grad:
            yield p, groups.sum(terms.reshape(len(x), x.shape[1], -1).sum(2))


_RULES: dict[type, Callable[..., Rows]] = {
    nn.Linear: _linear, nn.Conv2d: _conv2d, nn.Embedding: _embedding, nn.LayerNorm: _layer_norm, **dict.fromkeys(_NORMS, _batch_norm),
}
