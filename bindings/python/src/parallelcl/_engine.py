"""Engine: the weights of K losses that have samples of their own, for the price of a few passes instead of K."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.utils import _pytree

from ._backward import add, backward, exact, scaled_by, skips, trained, values_of
from ._layers import Groups, layer_gram, unsupported
from ._library import Error
from ._own import AnyRule, Own, as_rule
from ._owners import owners
from ._rule import Rule
from ._values import Values


@dataclass
class _Call:
    """One call of a layer: its input, and where the graph has its output, which may be overwritten later."""

    layer: torch.nn.Module
    input: torch.Tensor
    output: GradientEdge


class Engine:
    """Computes what backward does for losses of which each has samples of its own: the losses of single samples, or of tasks
    whose samples are in one batch. It is made before the forward pass; the loop then has one forward pass for all losses:

        engine = parallelcl.torch.Engine(net)
        losses = torch.nn.functional.cross_entropy(net(x), y, reduction="none")
        weights = engine.backward(losses, rule)

    The Gram matrix is that of all parameters that require a gradient, and comes from the inputs of the layers and the
    gradients at their outputs, of one backward pass; a second one computes the weighted gradient. Layers are Linear, Conv2d,
    Embedding, LayerNorm, and BatchNorm in evaluation. Where there is another layer with parameters, or where several losses
    share a sample, it makes K passes and warns once. The first step makes one pass more, which checks the Gram matrix."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.model = model
        self._calls: list[_Call] = []
        self._outputs: list[tuple[GradientEdge, int]] = []
        self._checked: set[Any] = set()
        self._warned = False
        self._layers = [layer for layer in model.modules() if any(True for _ in layer.parameters(recurse=False))]
        for layer in self._layers:
            if any(p.requires_grad for p in layer.parameters(recurse=False)):
                layer.register_forward_hook(self._saw)
        model.register_forward_pre_hook(self._begin, prepend=True)
        model.register_forward_hook(self._end)

    def backward(
        self, losses: Sequence[torch.Tensor] | torch.Tensor, rule: AnyRule, *, ids: Values | None = None, scaler: torch.amp.GradScaler | None = None,
        grad_scale: float | torch.Tensor | None = None, nonfinite: Literal["raise", "skip"] | None = None,
    ) -> torch.Tensor:
        """Like backward(losses, model, rule, …), in fewer passes. It frees the graph."""
        parameters, held = trained(self.model, "model"), as_rule(rule)
        scaled, scale = scaled_by(losses, scaler, grad_scale)
        stacked = _whole(scaled)
        found = self._gram(stacked, parameters, held)
        self._calls, self._outputs = [], []
        if isinstance(found, str):
            if not self._warned:
                self._warned = True
                warnings.warn(f"parallelcl.torch.Engine: {found}: it makes one backward pass for each loss", stacklevel=2)
            return backward(losses, parameters, rule, ids=ids, scaler=scaler, grad_scale=grad_scale, nonfinite=nonfinite)
        with torch.no_grad():
            if skips(found, scaler, nonfinite):
                weights, by = torch.full((len(scaled),), torch.nan, dtype=torch.float64), torch.ones_like(stacked)
            else:
                weights = torch.from_numpy(held.weights(found / scale**2, losses=values_of(scaled, scale, held), ids=ids))
                by = weights.to(stacked)
        for p, g in zip(parameters, torch.autograd.grad(stacked, parameters, by, allow_unused=True)):
            if g is not None:
                add(p, g)
        return weights

    def gram(self, losses: Sequence[torch.Tensor] | torch.Tensor) -> torch.Tensor:
        """The Gram matrix of the losses' gradients, in float64 on the CPU; Error where it would take K passes."""
        found = self._gram(_whole(scaled_by(losses, None, None)[0]), trained(self.model, "model"), None)
        if isinstance(found, str):
            raise Error(f"engine: {found}")
        return found

    def _gram(self, losses: torch.Tensor, parameters: list[torch.Tensor], held: Rule | Own | None) -> torch.Tensor | str:
        """The Gram matrix, or why there is none."""
        if held is not None and isinstance(held, Rule) and held.info["needs_rows"]:
            return f"{held.name} needs the gradients themselves"
        if not self._calls:
            return "the model has not been called since the last step, or its layers are compiled"
        for call in self._calls:
            why = unsupported(call.layer, call.input, self._outputs[0][1] if self._outputs else -1)
            if why:
                return why
        covered = {id(p) for call in self._calls for p in call.layer.parameters(recurse=False)}
        for layer in self._layers:  # one that was not called, but whose type has no hook to see its use
            if any(p.requires_grad and id(p) not in covered for p in layer.parameters(recurse=False)) and not isinstance(layer, torch.nn.Linear):
                return f"{type(layer).__name__} was not called"
        if not bool(torch.isfinite(losses).all()):
            return torch.full((len(losses), len(losses)), torch.nan, dtype=torch.float64)
        if len({n for _, n in self._outputs}) != 1:
            return "the model's output is not tensors with one row for each sample"
        edges, layers = [edge for edge, _ in self._outputs], [c.output for c in self._calls]
        at = torch.autograd.grad(losses, [*edges, *layers], torch.ones_like(losses), retain_graph=True, allow_unused=True)
        outputs, at = at[: len(edges)], at[len(edges) :]
        if not all(bool(torch.isfinite(g).all()) for g in outputs if g is not None):
            return torch.full((len(losses), len(losses)), torch.nan, dtype=torch.float64)
        whose = owners(losses, edges, outputs)
        if isinstance(whose, str):
            return whose
        with torch.no_grad():
            found = layer_gram([(c.layer, c.input, g) for c, g in zip(self._calls, at) if g is not None], Groups(whose, len(losses)))
        return self._check(found, losses, parameters) or found

    def _check(self, gram: torch.Tensor, losses: torch.Tensor, parameters: list[torch.Tensor]) -> str | None:
        """Compares ‖Σ rᵢJᵢ‖² of random r with rᵀMr, once for each way in which the model is called."""
        key = (len(losses), *((id(c.layer), c.input.shape[1:], c.layer.training) for c in self._calls))
        if key in self._checked or not bool(torch.isfinite(gram).all()):
            return None
        lengths = gram.diagonal().sqrt()
        r = torch.from_numpy(np.random.default_rng(0).normal(size=len(losses))) / torch.where(lengths > 0, lengths, 1)
        pairs = torch.autograd.grad(losses, parameters, r.to(losses), retain_graph=True, allow_unused=True)
        got = sum(float(exact(g).square().sum()) for g in pairs if g is not None)
        want = float(r @ gram @ r)
        if abs(got - want) > (1e-4 if losses.dtype == torch.float64 else 2e-2) * float((r * lengths).square().sum()):
            return "the samples of the batch do not pass through the model independently, or a parameter is used outside of its layer"
        self._checked.add(key)
        return None

    def _begin(self, *_: Any) -> None:
        self._calls, self._outputs = [], []

    def _saw(self, layer: torch.nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if torch.is_grad_enabled() and isinstance(output, torch.Tensor) and output.requires_grad and inputs:
            self._calls.append(_Call(layer, inputs[0].detach(), get_gradient_edge(output)))

    def _end(self, model: torch.nn.Module, inputs: Any, output: Any) -> None:
        for x in _pytree.tree_leaves(output):
            if isinstance(x, torch.Tensor) and x.requires_grad and x.ndim:
                self._outputs.append((get_gradient_edge(x), len(x)))


def _whole(losses: list[torch.Tensor] | torch.Tensor) -> torch.Tensor:
    """The losses in one tensor."""
    return losses if isinstance(losses, torch.Tensor) else torch.stack([x.reshape(()) for x in losses])
