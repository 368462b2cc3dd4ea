"""EMGD and other rules in a loop of plain PyTorch."""

import torch

from ._rule import Rule


def backward(losses, parameters, rule, *, ids=None, retain_graph=False):
    """Like loss.backward() for several losses at once: computes the gradient of each, asks the rule for the weights, and
    adds the weighted sum to the parameters' grad. Returns the weights, a tensor of float64 on the CPU."""
    parameters = [p for p in parameters if p.requires_grad]
    rows = []
    for i, loss in enumerate(losses):
        keep = retain_graph or i + 1 < len(losses)
        found = torch.autograd.grad(loss, parameters, retain_graph=keep, allow_unused=True)
        rows.append([torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found)])
    with torch.no_grad():
        values = [float(loss) for loss in losses] if rule.info["needs_losses"] else None
        if rule.info["needs_rows"]:
            jacobian = torch.stack([torch.cat([g.reshape(-1) for g in row]) for row in rows])
            d = torch.from_numpy(rule.direction(jacobian, values, ids=ids))
            parts = d.split([p.numel() for p in parameters])
            steps = [part.reshape(p.shape).to(p) for part, p in zip(parts, parameters)]
            weights = torch.from_numpy(rule.last.weights)
        else:
            weights = torch.from_numpy(rule.weights(gram(rows), losses=values, ids=ids))
            steps = [sum(w * g for w, g in zip(weights.tolist(), column)) for column in zip(*rows)]
        for p, step in zip(parameters, steps):
            p.grad = step if p.grad is None else p.grad + step
    return weights


def gram(rows):
    """The Gram matrix of gradients, each a list of tensors, in float64."""
    total = 0.0
    for column in zip(*rows):
        j = torch.stack([g.reshape(-1) for g in column]).double()
        total = total + j @ j.T
    return total


__all__ = ["Rule", "backward", "gram"]
