"""Compares the step d of every method that parallelcl shares with TorchJD, and EMGD's dual with an
exact enumeration and with SciPy's SLSQP, on random matrices.

    go build -o pcl ./cmd/pcl
    python bench/peers/aggregators.py ./pcl --out peers.json

One `pcl weigh` process answers all matrices of a comparison, JSON lines in and out. The number
reported is the largest ‖d − d'‖/‖d'‖, d' the peer's step in float64, with its median beside it.
"""

import argparse
import itertools
import json
import subprocess
import sys
import time
import warnings
from importlib import metadata
from unittest import mock

import numpy as np
import torch
from scipy.optimize import minimize
from torchjd import aggregation as tj
from torchjd import scalarization as tj_scalar
from torchjd.linalg import QuadprogProjector


EVERY = range(2, 9)  # numbers of rows


def problems(count, seed, rows=EVERY, run=1):
    """Gaussian matrices with more columns than rows, and losses; `run` in turn have one shape and the
    ids of one life of a method that remembers."""
    rng, positive = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    for i in range(count):
        if i % run == 0:
            k = int(rng.integers(rows.start, rows.stop))
            n = k + int(rng.integers(1, 11))
        first = 1 + i // run * rows.stop
        yield {
            "jacobian": rng.standard_normal((k, n)).tolist(),
            "losses": positive.uniform(0.1, 3, k).tolist(),
            "ids": list(range(first, first + k)),
        }


def ours(binary, method, params, given):
    """The steps of one method for a list of problems, each a dict for `pcl weigh`."""
    command = [binary, "weigh", "--method", method]
    for name, value in params.items():
        command += ["--param", f"{name}={value}"]
    lines = "\n".join(json.dumps(p) for p in given)
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return [np.array(json.loads(line)["direction"]) for line in done.stdout.splitlines()]


# A peer is a function of the number of rows; it begins a life and returns the step as a function of a
# problem and of our step.


def aggregator(make):
    """A TorchJD aggregator."""

    def begin(k):
        instance = make(k)
        return lambda p, d: instance(torch.tensor(p["jacobian"])).numpy()

    return begin


def weighting(make):
    """A TorchJD weighting of the Gram matrix."""

    def begin(k):
        instance = make(k)

        def step(p, d):
            j = torch.tensor(p["jacobian"])
            return (instance(j @ j.T) @ j).numpy()

        return step

    return begin


def scalarizer(make):
    """A TorchJD scalarizer: its gradient in the losses weighs the rows."""

    def begin(k):
        instance = make(k)

        def step(p, d):
            losses = torch.tensor(p["losses"], requires_grad=True)
            instance(losses).backward()
            return losses.grad.numpy() @ np.array(p["jacobian"])

        return step

    return begin


def nash(niter):
    made = {}

    def begin(k):
        if k not in made:
            made[k] = tj.NashMTL(n_tasks=k, max_norm=1.0, update_weights_every=1, optim_niter=niter)
        made[k].reset()
        return lambda p, d: made[k](torch.tensor(p["jacobian"])).numpy()

    return begin


def graddrop(leak):
    """TorchJD's GradDrop with the signs that we drew: U is put on the side of P where our step is."""

    def begin(k):
        instance = tj.GradDrop(leak=torch.full((k,), leak))

        def step(p, d):
            j = torch.tensor(p["jacobian"])
            kept = (torch.tensor(d) - leak * j.sum(0)) / (1 - leak)
            u = torch.where((kept - j.clamp(min=0).sum(0)).abs() < (kept - j.clamp(max=0).sum(0)).abs(), 0.0, 1.0)
            with mock.patch("torch.rand", lambda *_, **__: u):
                return instance(j).numpy()

        return step

    return begin


def krum_squared(f):
    """Krum with squared distances, as in the paper's definition of the score."""

    def step(p, d):
        j = np.array(p["jacobian"])
        distances = ((j[:, None] - j[None]) ** 2).sum(-1)
        scores = np.sort(distances, axis=1)[:, 1 : len(j) - f - 1].sum(1)
        return j[np.flatnonzero(np.isclose(scores, scores.min(), rtol=1e-12))[0]]

    return lambda k: step


def comparisons(count):
    """(label, our method, our parameters, the peer, numbers of rows, matrices in one life)."""
    exact = QuadprogProjector(norm_eps=0.0, reg_eps=1e-12)

    def crmogm(k):
        return tj.GramianWeightedAggregator(tj.CRMOGMWeighting(tj.UPGradWeighting(projector=exact)))

    def sdmgrad(n_iter, lr):
        return weighting(lambda k: tj.SDMGradWeighting(lr=lr, n_iter=n_iter))

    return [
        ("Mean", "avggrad", {}, aggregator(lambda k: tj.Mean()), EVERY, 1),
        ("Sum", "sum", {}, aggregator(lambda k: tj.Sum()), EVERY, 1),
        ("Constant(1, …, 1)", "constant", {}, aggregator(lambda k: tj.Constant(torch.ones(k))), EVERY, 1),
        ("MGDA(1e-3, 100), default", "mgda", {}, aggregator(lambda k: tj.MGDA()), EVERY, 1),
        ("MGDA(1e-9, 1000)", "mgda", {}, aggregator(lambda k: tj.MGDA(1e-9, 1000)), EVERY, 1),
        ("UPGrad, default", "upgrad", {}, aggregator(lambda k: tj.UPGrad()), EVERY, 1),
        ("UPGrad(0, 1e-12)", "upgrad", {}, aggregator(lambda k: tj.UPGrad(projector=exact)), EVERY, 1),
        ("DualProj, default", "dualproj", {}, aggregator(lambda k: tj.DualProj()), EVERY, 1),
        ("DualProj(0, 1e-12)", "dualproj", {}, aggregator(lambda k: tj.DualProj(projector=exact)), EVERY, 1),
        ("AlignedMTL(min)", "aligned-mtl", {}, aggregator(lambda k: tj.AlignedMTL()), EVERY, 1),
        ("AlignedMTL(median)", "aligned-mtl", {"scale": "median"}, aggregator(lambda k: tj.AlignedMTL(scale_mode="median")), EVERY, 1),
        ("AlignedMTL(rmse)", "aligned-mtl", {"scale": "rmse"}, aggregator(lambda k: tj.AlignedMTL(scale_mode="rmse")), EVERY, 1),
        ("CAGrad(0.5)", "cagrad", {"c": 0.5}, aggregator(lambda k: tj.CAGrad(0.5, norm_eps=0.0)), EVERY, 1),
        ("ConFIG", "config", {}, aggregator(lambda k: tj.ConFIG()), EVERY, 1),
        ("IMTLG", "imtl-g", {}, aggregator(lambda k: tj.IMTLG()), EVERY, 1),
        ("FairGrad(1)", "fairgrad", {"alpha": 1}, aggregator(lambda k: tj.FairGrad(1.0)), EVERY, 1),
        ("FairGrad(2)", "fairgrad", {"alpha": 2}, aggregator(lambda k: tj.FairGrad(2.0)), EVERY, 1),
        ("NashMTL, 20 iterations", "nash-mtl", {}, nash(20), EVERY, 1),
        ("SDMGrad, 20 iterations, default", "sdmgrad", {}, sdmgrad(20, 10.0), EVERY, 1),
        ("SDMGrad, 500 iterations at lr 0.5", "sdmgrad", {}, sdmgrad(500, 0.5), EVERY, 1),
        ("PCGrad, K = 2", "pcgrad", {}, aggregator(lambda k: tj.PCGrad()), range(2, 3), 1),
        ("GradVac(0.5), K = 2, one run", "gradvac", {"beta": 0.5}, aggregator(lambda k: tj.GradVac(0.5)), range(2, 3), count),
        ("CRMOGM(UPGrad, 0.9), K = 4, one run", "cr-mogm", {"method": "upgrad"}, aggregator(crmogm), range(4, 5), count),
        ("GradDrop, our draws", "graddrop", {}, graddrop(0.0), EVERY, 1),
        ("GradDrop(leak 0.25), our draws", "graddrop", {"leak": 0.25}, graddrop(0.25), EVERY, 1),
        ("Krum(1), K = 4 to 8", "krum", {}, aggregator(lambda k: tj.Krum(1)), range(4, 9), 1),
        ("Krum(1), squared distances", "krum", {}, krum_squared(1), range(4, 9), 1),
        ("Krum(1, 3), K = 4 to 8", "krum", {"selected": 3}, aggregator(lambda k: tj.Krum(1, 3)), range(4, 9), 1),
        ("TrimmedMean(1), K = 3 to 8", "trimmed-mean", {}, aggregator(lambda k: tj.TrimmedMean(1)), range(3, 9), 1),
        ("MoDo(0.001, 0.1), runs of 10", "modo", {}, weighting(lambda k: tj.MoDoWeighting(0.001, 0.1)), EVERY, 10),
        ("MoDo(0.1, 0.1), default, runs of 10", "modo", {"gamma": 0.1}, weighting(lambda k: tj.MoDoWeighting()), EVERY, 10),
        ("ExcessMTL(0.01, 1), runs of 10", "excess-mtl", {}, aggregator(lambda k: tj.ExcessMTL(0.01, 1)), EVERY, 10),
        ("ExcessMTL(1, 1), runs of 10", "excess-mtl", {"lr": 1}, aggregator(lambda k: tj.ExcessMTL(1.0, 1)), EVERY, 10),
        ("PCD, default, runs of 10", "pcd", {}, aggregator(lambda k: tj.PCD()), EVERY, 10),
        ("PCD(0.5, 0.9), runs of 10", "pcd", {"tau": 0.5, "beta": 0.9}, aggregator(lambda k: tj.PCD(0.5, 0.9)), EVERY, 10),
        ("GeometricMean", "gls", {}, scalarizer(lambda k: tj_scalar.GeometricMean()), EVERY, 1),
        ("STCH(1), preferences 1", "stch", {}, scalarizer(lambda k: tj_scalar.STCH(1.0, torch.ones(k))), EVERY, 1),
        ("PBI(5), preferences 1", "pbi", {}, scalarizer(lambda k: tj_scalar.PBI(5.0, torch.ones(k))), EVERY, 1),
        ("COSMOS(1), preferences 1/K", "cosmos", {}, scalarizer(lambda k: tj_scalar.COSMOS(1.0, torch.full((k,), 1 / k))), EVERY, 1),
    ]


def difference(d, peer):
    return float(np.linalg.norm(d - peer) / max(np.linalg.norm(peer), np.finfo(float).tiny))


def enumerate_dual(j, sigma):
    """EMGD's dual, min ‖λJ‖² with σ·λ = 1 and λ ≥ 0, by all supports of the bordered system."""
    gram, k, best = j @ j.T, len(j), (np.inf, None)
    for size in range(1, k + 1):
        for support in itertools.combinations(range(k), size):
            at = list(support)
            system = np.zeros((size + 1, size + 1))
            system[:size, :size] = gram[np.ix_(at, at)]
            system[:size, size] = system[size, :size] = sigma[at]
            solution = np.linalg.solve(system, np.append(np.zeros(size), 1.0))[:size]
            if solution.min() >= 0:
                value = solution @ gram[np.ix_(at, at)] @ solution
                if value < best[0]:
                    best = (value, (at, solution))
    at, solution = best[1]
    return solution @ j[at]


def slsqp_dual(j, sigma):
    gram, k = j @ j.T, len(j)
    found = minimize(
        lambda x: x @ gram @ x,
        np.full(k, 1 / sigma.sum()),
        jac=lambda x: 2 * gram @ x,
        bounds=[(0, None)] * k,
        constraints={"type": "eq", "fun": lambda x: sigma @ x - 1, "jac": lambda x: sigma},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return found.x @ j


def report(rows, label, method, count, differences, failures, seconds):
    row = {
        "peer": label, "method": method, "matrices": count, "peer_failures": failures,
        "largest": max(differences, default=float("nan")), "median": float(np.median(differences)),
        "above_1e-4": sum(x > 1e-4 for x in differences), "peer_seconds": round(seconds, 2),
    }
    rows.append(row)
    print(f"{label:38} {method:12} {count:5} {row['largest']:9.1e} {row['median']:9.1e} {row['above_1e-4']:6} {failures:6} {seconds:8.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the pcl program")
    parser.add_argument("--count", type=int, default=1000, help="matrices per comparison")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="run the comparisons whose label holds this text")
    parser.add_argument("--out", default="peers.json", help="where the table goes as JSON")
    args = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")

    rows = []
    print(f"{'peer':38} {'method':12} {'count':>5} {'largest':>9} {'median':>9} {'>1e-4':>6} {'failed':>6} {'peer s':>8}")
    for label, method, params, peer, k, run in comparisons(args.count):
        if args.only not in label:
            continue
        drawn = list(problems(args.count, args.seed, k, run))
        steps = ours(args.binary, method, params, drawn)
        differences, failures, start = [], 0, time.perf_counter()
        for i, (p, d) in enumerate(zip(drawn, steps)):
            if i % run == 0:
                step = peer(len(p["jacobian"]))
            try:
                differences.append(difference(d, step(p, d)))
            except Exception:  # each peer has its own solver's errors
                failures += 1
        report(rows, label, method, args.count, differences, failures, time.perf_counter() - start)

    rng = np.random.default_rng(args.seed + 1)
    drawn = [np.array(p["jacobian"]) for p in problems(args.count, args.seed)]
    sigmas = [s / s.sum() for s in (np.exp(rng.standard_normal(len(j))) for j in drawn)]
    for label, peer in (("EMGD's dual, enumeration", enumerate_dual), ("EMGD's dual, SciPy SLSQP", slsqp_dual)):
        if args.only not in label:
            continue
        steps = ours(args.binary, "emgd-gmc", {}, [{"jacobian": j.tolist(), "sigma": s.tolist()} for j, s in zip(drawn, sigmas)])
        start = time.perf_counter()
        differences = [difference(d, peer(j, s)) for j, s, d in zip(drawn, sigmas, steps)]
        report(rows, label, "emgd-gmc", args.count, differences, 0, time.perf_counter() - start)

    versions = {name: metadata.version(name) for name in ("torchjd", "torch", "numpy", "scipy")}
    with open(args.out, "w") as f:
        json.dump({"seed": args.seed, "versions": versions, "comparisons": rows}, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
