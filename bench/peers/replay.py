"""Computes recorded training steps again in PyTorch, in float64, and compares the parameters.

    pcl run --method mgda --increment class --train-per-class 120 --record-arrays 50 --dataset D --out runs
    python bench/peers/replay.py runs/*/*mgda*

Each run starts from the recorded parameters and sees the recorded batches. Gradients come from autograd,
weights from the rules written out below, the update from torch.optim.Adam; nothing of ours is used but
the inputs. The numbers reported are the largest ‖θ − θ'‖/‖θ'‖, θ' computed here, and the largest difference
of a weight relative to the largest weight.

A ReLU whose input lies within float32's rounding of 0 may open in float32 and stay shut in float64; its
sample's share of the gradient then differs, and Adam carries that on. Such kinks are counted, and the
differences are given up to the first of them and over all steps. Beside them stands the same difference
between PyTorch in float32 and PyTorch in float64.
"""

import argparse
import itertools
import json
from pathlib import Path

import numpy as np
import torch

MEMORY = 0
KINKS = []  # inputs of ReLUs that float32 cannot tell from 0, by forward computation


def forward(parts, x):
    """The MLP: fully connected layers with ReLU, then the classifier."""
    h = x
    for w, b in zip(parts[0:-2:2], parts[1:-2:2]):
        z = h @ w + b
        KINKS.append(int((z.detach().abs() < 3e-7 * z.detach().abs().max()).sum()))
        h = torch.relu(z)
    return h @ parts[-2] + parts[-1]


STORED = 2  # the kind of a loss that is only the squared difference to stored logits


OTHERS = [3, 5, 8]  # of the columns of "loss": teacher, adjust, cosine


def loss_of(parts, x, targets, names, loss, reference):
    """Mean over the samples that are no padding of scale times the cross-entropy among the outputs lo…hi−1, plus
    distill times the mean squared difference to the logits that were stored with the sample."""
    row = {name: targets[i] for i, name in enumerate(names)}
    valid = row["valid"] > 0
    z = forward(parts, x[valid])
    output = torch.arange(z.shape[1])
    competes = (output >= row["lo"][valid, None]) & (output < row["hi"][valid, None])
    kind, scale, distill = loss[:3]
    if any(loss[i] for i in OTHERS if i < len(loss)):
        raise SystemExit("a row is trained on a teacher, adjusted logits or cosines, which this script does not compute")
    total = 0.0
    if kind != STORED:
        total = scale * torch.nn.functional.cross_entropy(z.masked_fill(~competes, -torch.inf), row["label"][valid].long())
    if kind == STORED or distill > 0:
        wanted = reference[valid]
        has = wanted < 5e29
        squares = torch.where(has, z - torch.where(has, wanted, 0), 0) ** 2
        each = squares.sum(1) / has.sum(1).clamp(min=1)
        total = total + (scale if kind == STORED else distill) * each.mean()
    return total


def min_norm(m, sigma):
    """argmin λᵀMλ with Σλσ = 1, λ ≥ 0: the best of all supports whose solution is feasible."""
    best, found = np.inf, None
    for size in range(1, len(m) + 1):
        for support in map(list, itertools.combinations(range(len(m)), size)):
            inner = np.linalg.lstsq(m[np.ix_(support, support)], sigma[support], rcond=None)[0]
            lam = np.zeros(len(m))
            lam[support] = inner / (sigma[support] @ inner)
            if (lam >= -1e-15).all() and lam @ m @ lam < best:
                best, found = lam @ m @ lam, np.maximum(lam, 0)
    return found


class GMC:
    """EMGD with factors softmax(z/τ), z = m or log m, m ← ε₁m + (1−ε₁)‖J‖."""

    def __init__(self, tau=5.0, momentum=0.9, of=lambda m: m):
        self.tau, self.momentum, self.of, self.m = tau, momentum, of, {}

    def __call__(self, m, ids):
        norms = np.sqrt(np.diag(m))
        for i, n in zip(ids, norms):
            self.m[i] = self.momentum * self.m[i] + (1 - self.momentum) * n if i in self.m else n
        z = self.of(np.array([self.m[i] for i in ids])) / self.tau
        sigma = np.exp(z - z.max())
        return min_norm(m, sigma / sigma.sum())


class Joined:
    """A rule that sees the memory's rows, whose ids are not positive, as one: M' = SMSᵀ, w = Sᵀw'."""

    def __init__(self, rule):
        self.rule = rule

    def __call__(self, m, ids):
        tasks = [i for i in ids if i > MEMORY]
        if len(tasks) == len(ids):
            return self.rule(m, ids)
        s = np.array([[float(i <= MEMORY) for i in ids]] + [[float(i == t) for i in ids] for t in tasks])
        return s.T @ self.rule(s @ m @ s.T, [MEMORY] + tasks)


def mgda(m, ids):
    return min_norm(m, np.ones(len(m)))


def pcgrad(m, ids):
    assert len(m) <= 2, "the order of more projections is drawn at random: record with --kind serial"
    w = np.eye(len(m))
    for i, j in itertools.permutations(range(len(m)), 2):
        if m[i, j] < 0:
            w[i, j] -= m[i, j] / m[j, j]
    return w.sum(0)


def agem(m, ids):
    tasks = [k for k, i in enumerate(ids) if i != MEMORY]
    w = np.zeros(len(m))
    w[tasks] = 1 / len(tasks)
    if MEMORY in ids:
        memory = list(ids).index(MEMORY)
        w[memory] = max(0, -(w @ m)[memory] / m[memory, memory])
    return w


def upgrad(m, ids):
    """Σᵢ argmin vᵀMv with v ≥ eᵢ/K, each by bounded quasi-Newton steps on the scaled problem."""
    k, total = len(m), np.zeros(len(m))
    scale = np.sqrt(np.diag(m))
    c = m / np.outer(scale, scale)
    for i in range(k):
        low = np.zeros(k)
        low[i] = scale[i] / k
        total += active_set(c, low) / scale
    return total


def active_set(c, low):
    """argmin vᵀCv with v ≥ low, by enumerating which bounds hold."""
    best, found = np.inf, None
    for at_bound in itertools.product([False, True], repeat=len(low)):
        bound = np.array(at_bound)
        v = low.copy()
        free = ~bound
        if free.any():
            v[free] = np.linalg.lstsq(c[np.ix_(free, free)], -c[np.ix_(free, bound)] @ low[bound], rcond=None)[0]
        if (v >= low - 1e-12).all() and v @ c @ v < best:
            best, found = v @ c @ v, np.maximum(v, low)
    return found


RULES = {
    "emgd-gmc": GMC,
    "emgd-log": lambda: GMC(1.0, 0.9, np.log),
    "emgd": lambda: GMC(1.5, 0.0, np.log),
    "mgda": lambda: mgda,
    "pcgrad": lambda: pcgrad,
    "a-gem": lambda: agem,
    "upgrad": lambda: upgrad,
}


class Trainer:
    """Computes the steps of a run from its batches in the given precision."""

    def __init__(self, run, about, dtype):
        self.about, self.dtype = about, dtype
        self.theta = torch.tensor(np.load(run / "arrays/init.npz")["theta"], dtype=dtype).requires_grad_()
        o = about["optimizer"]
        self.adam = torch.optim.Adam([self.theta], lr=o["lr"], betas=(o["beta1"], o["beta2"]), eps=o["epsilon"])
        self.rule = Joined(RULES[about["method"].split("+")[0]]())  # the parts of a rehearsal are in the batches and losses

    def step(self, step):
        """Makes one update and returns the weights."""
        names, shared, theta = self.about["targets"], self.about["shared"], self.theta
        parts = [theta[p["Offset"] : p["Offset"] + int(np.prod(p["Dims"]))].view(*p["Dims"]) for p in self.about["params"]]
        grads, rows = [], len(step["ids"])
        losses = step["loss"] if "loss" in step else [(0, 1.0, 0.0)] * rows
        references = step["reference"] if "reference" in step else [np.zeros(0)] * rows
        for x, targets, of, reference in zip(step["x"], step["targets"], losses, references):
            reference = torch.tensor(reference, dtype=self.dtype)
            loss = loss_of(parts, torch.tensor(x, dtype=self.dtype), torch.tensor(targets), names, of, reference)
            grads.append(torch.autograd.grad(loss, theta, retain_graph=True)[0])
        j = torch.stack(grads)
        s = j[:, :shared].double()
        w = self.rule((s @ s.T).numpy(), list(step["ids"]))
        d = j.sum(0)  # private parameters move by the plain sum
        d[:shared] = (torch.tensor(w) @ s).to(self.dtype)
        theta.grad = d
        self.adam.step()
        return w

    def parameters(self):
        return self.theta.detach().double().numpy()


def distance(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


def replay(run):
    about = json.loads((run / "arrays/model.json").read_text())
    exact, single = Trainer(run, about, torch.float64), Trainer(run, about, torch.float32)
    row = {"method": about["method"], "steps": 0, "rows": 0, "kink": None}
    worst = {"before": 0.0, "all": 0.0, "single": 0.0, "weights": 0.0}
    for path in sorted((run / "arrays").glob("step-*.npz")):
        step = np.load(path)
        KINKS.clear()
        w = exact.step(step)
        if sum(KINKS) and row["kink"] is None:
            row["kink"] = row["steps"]
        single.step(step)
        ours, here = step["theta"].astype(np.float64), exact.parameters()
        worst["all"] = max(worst["all"], distance(ours, here))
        worst["single"] = max(worst["single"], distance(single.parameters(), here))
        if row["kink"] is None:
            worst["before"] = max(worst["before"], distance(ours, here))
            worst["weights"] = max(worst["weights"], np.abs(w - step["weights"]).max() / np.abs(w).max())
        row["steps"], row["rows"] = row["steps"] + 1, max(row["rows"], len(w))
    return row | worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, help="run folders with arrays/")
    torch.set_num_threads(1)
    print(f"{'method':16} {'steps':>5} {'K ≤':>3} {'first kink':>10} {'Δθ before':>10} {'Δw before':>10} {'Δθ all':>8} {'torch f32':>9}")
    for run in parser.parse_args().runs:
        r = replay(run)
        kink = "none" if r["kink"] is None else r["kink"]
        print(f"{r['method']:16} {r['steps']:5} {r['rows']:3} {kink:>10} {r['before']:10.1e} {r['weights']:10.1e} {r['all']:8.1e} {r['single']:9.1e}")


if __name__ == "__main__":
    main()
