"""EMGD and other rules in a loop of plain PyTorch."""

from collections.abc import Iterable, Sequence

import torch

from ._rule import Rule
from ._values import Values


def backward(
    losses: Sequence[torch.Tensor], parameters: Iterable[torch.Tensor], rule: Rule, *, ids: Values | None = None, retain_graph: bool = False
) -> torch.Tensor:
    """Like loss.backward() for several losses at once: computes the gradient of each, asks the rule for the weights, and
    adds the weighted sum to the parameters' grad. Returns the weights, a tensor of float64 on the CPU. Gradients are those
    of this process: under DistributedDataParallel they are not averaged."""
    parameters = [p for p in parameters if p.requires_grad]
    rows = []
    for i, loss in enumerate(losses):
        keep = retain_graph or i + 1 < len(losses)
        found = torch.autograd.grad(loss, parameters, retain_graph=keep, allow_unused=True)
        rows.append([torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found)])
    with torch.no_grad():
        values = [float(loss) for loss in losses] if rule.info["needs_losses"] else None
        if rule.info["needs_rows"]:
            jacobian = torch.stack([torch.cat([g.reshape(-1).cpu() for g in row]) for row in rows])
            w, d = rule._from_jacobian(jacobian, values, ids, None, True)
            weights, parts = torch.from_numpy(w), torch.split(torch.from_numpy(d), [p.numel() for p in parameters])
            steps = [part.reshape(p.shape).to(p, copy=True) for part, p in zip(parts, parameters)]
        else:
            weights = torch.from_numpy(rule.weights(gram(rows), losses=values, ids=ids))
            steps = [sum(w * g for w, g in zip(weights.tolist(), column)) for column in zip(*rows)]
        for p, step in zip(parameters, steps):
            if p.grad is None:
                p.grad = step
            else:
                p.grad.add_(step)
    return weights


def gram(rows: Sequence[Sequence[torch.Tensor]]) -> torch.Tensor:
    """The Gram matrix of gradients, each a list of tensors, in float64 on the CPU."""
    totals: dict[torch.device, torch.Tensor] = {}
    for column in zip(*rows):
        j = exact(torch.stack([g.reshape(-1) for g in column]))
        totals[j.device] = totals.get(j.device, 0) + j @ j.T
    return sum(total.cpu().double() for total in totals.values())


def exact(x: torch.Tensor) -> torch.Tensor:
    """The tensor in float64, or in float32 on Apple's GPUs, which have no float64."""
    return x.float() if x.device.type == "mps" else x.double()


__all__ = ["Rule", "backward", "gram"]
