"""PyTorch's training step: eager, with torch.compile, or with TorchJD.

eager, compile   one torch.autograd.grad per stream into J, JJᵀ, weights on the host, Adam
torchjd-…        torchjd.autojac.backward and jac_to_grad as its documentation shows, with its own
                 aggregator: mgda (Frank–Wolfe) or upgrad
"""

import itertools
import warnings

import torch
from torch import nn
from torch.nn import functional as F

import turns


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride > 1:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        h = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(h)) + self.shortcut(x))


def resnet18(width, outputs):
    layers = [nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2)]
    inputs = width
    for stage in range(4):
        for i in range(2):
            layers.append(Block(inputs, width << stage, 2 if stage > 0 and i == 0 else 1))
            inputs = width << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, outputs))


def mlp(outputs):
    return nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, outputs))


class Contender:
    def __init__(self, a):
        self.a = a
        shape = (784,) if a.model == "mlp" else (3, a.side, a.side)
        x, y = turns.batches(a, shape)
        self.batches = itertools.cycle(torch.from_numpy(x))
        self.labels = torch.from_numpy(y).to(a.device)
        torch.manual_seed(1)
        net = mlp(turns.outputs(a)) if a.model == "mlp" else resnet18(a.width, turns.outputs(a))
        self.net = net.to(a.device)
        self.params = list(self.net.parameters())
        self.sizes = [p.numel() for p in self.params]
        self.adam = torch.optim.Adam(self.params, turns.LR, (turns.BETA1, turns.BETA2), turns.EPSILON, fused=True)
        self.jacobian = torch.empty(a.k, sum(self.sizes), device=a.device)
        self.seen = turns.CLASSES_PER_TASK * a.k
        self.loss = torch.compile(self.plain_loss) if a.variant == "compile" else self.plain_loss

    def plain_loss(self, x, y):
        """Among the classes of the tasks that have begun."""
        return F.cross_entropy(self.net(x)[:, : self.seen], y)

    def synchronise(self):
        if self.a.device == "cuda":
            torch.cuda.synchronize()

    def step(self):
        losses = []
        for k, x in enumerate(next(self.batches)):
            loss = self.loss(x.to(self.a.device, non_blocking=True), self.labels[k])
            grads = torch.autograd.grad(loss, self.params)
            torch.cat([g.flatten() for g in grads], out=self.jacobian[k])
            losses.append(loss.detach())
        j = self.jacobian
        weights = turns.min_norm((j @ j.T).double().cpu().numpy())
        d = torch.from_numpy(weights).float().to(j.device) @ j
        for p, part in zip(self.params, d.split(self.sizes)):
            p.grad = part.view_as(p)
        self.adam.step()
        torch.stack(losses).tolist()
        self.synchronise()


class TorchJD(Contender):
    def __init__(self, a):
        super().__init__(a)
        from torchjd import aggregation, autojac

        self.autojac = autojac
        self.aggregator = aggregation.MGDA() if a.variant == "torchjd-mgda" else aggregation.UPGrad()
        self.jacobian = None

    def step(self):
        x = next(self.batches).to(self.a.device, non_blocking=True)
        losses = [self.plain_loss(x[k], self.labels[k]) for k in range(self.a.k)]
        self.autojac.backward(losses, parallel_chunk_size=self.chunk)
        self.autojac.jac_to_grad(self.params, self.aggregator)
        self.adam.step()
        self.adam.zero_grad()
        torch.stack(losses).tolist()
        self.synchronise()

    chunk = None  # its default: all rows in parallel


def main():
    a = turns.arguments()
    torch.set_num_threads(a.threads)
    torch.backends.cudnn.allow_tf32 = False  # as ours
    warnings.filterwarnings("ignore", category=UserWarning)
    contender = (TorchJD if a.variant.startswith("torchjd") else Contender)(a)
    turns.take_turns(a, contender.step, sum(contender.sizes))


if __name__ == "__main__":
    main()
