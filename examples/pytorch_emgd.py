"""EMGD in a loop of plain PyTorch: an old task, which a new one joins at step 500.

    pip install torch dist/parallelcl-*.whl     # docs/python.md says how to build the wheel
    python examples/pytorch_emgd.py

Both tasks are functions of two parameters (package toy, docs/protocol.md §5.1), so that the whole descent can be
compared: `pcl toy --json` in Go, and this program, in float64, give the same curve to 1e-9. In a network, the two
functions are the losses of two batches, and the parameters are those that the tasks share.
"""

import torch

import parallelcl
import parallelcl.torch


def f1(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.log(1 + x * x) + 0.8 * (1 - torch.exp(x) * torch.sin(y)) ** 2


def f2(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.log(1 + y * y) + 0.004 * (0.1 + torch.exp(y) * torch.cos(x)) ** 2


def descend(rule: parallelcl.Rule, steps: int = 1500, arrival: int = 500, lr: float = 2e-5) -> list[list[float]]:
    """The losses (f1, f2) before each step, and after the last."""
    theta = torch.tensor([3.0, 3.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([theta], lr=lr)
    curve = []
    for step in range(steps):
        losses = [f1(*theta), f2(*theta)]
        curve.append([loss.item() for loss in losses])
        optimizer.zero_grad()
        if step < arrival:
            losses[0].backward()  # one task needs no weights
        else:
            parallelcl.torch.backward(losses, [theta], rule)  # instead of sum(losses).backward()
        optimizer.step()
    with torch.no_grad():
        curve.append([f1(*theta).item(), f2(*theta).item()])
    return curve


def main() -> None:
    print(f"{'rule':<16} {'f1 when f2 arrives':>20} {'f1 at the end':>15} {'f2 when it arrives':>20} {'f2 at the end':>15}")
    for rule in [parallelcl.Rule("avggrad"), parallelcl.Rule("mgda"), parallelcl.EMGDGMC(tau=5)]:
        curve = descend(rule)
        print(f"{rule.name:<16} {curve[500][0]:>20.4f} {curve[-1][0]:>15.4f} {curve[500][1]:>20.4f} {curve[-1][1]:>15.4f}")
    print("\nThe mean of the gradients lets f1 rise; EMGD decreases both.", rule.certificate.message, sep="\n")


if __name__ == "__main__":
    main()
