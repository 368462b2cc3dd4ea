"""Compares the step d of every method that parallelcl shares with TorchJD, and EMGD's dual with an
exact enumeration and with SciPy's SLSQP, on random matrices.

    go build -o pcl ./cmd/pcl
    python bench/peers/aggregators.py ./pcl --out peers.json

One `pcl weights` process answers all matrices of a comparison, JSON lines in and out. The number
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

import numpy as np
import torch
from scipy.optimize import minimize
from torchjd import aggregation as tj
from torchjd.linalg import QuadprogProjector


def matrices(count, seed, rows=None):
    """Gaussian matrices of 2 to 8 rows (or the given number) and more columns than rows."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        k = rows or int(rng.integers(2, 9))
        yield rng.standard_normal((k, k + int(rng.integers(1, 11))))


def ours(binary, method, params, problems):
    """The steps of one method for a list of problems, each a dict for `pcl weights`."""
    command = [binary, "weights", "--method", method]
    for name, value in params.items():
        command += ["--param", f"{name}={value}"]
    lines = "\n".join(json.dumps(p) for p in problems)
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return [np.array(json.loads(line)["direction"]) for line in done.stdout.splitlines()]


def aggregator(make):
    """A TorchJD aggregator as a function of a matrix; a fresh one for every matrix."""
    return lambda j: make(len(j))(torch.tensor(j)).numpy()


def kept(instance):
    """The same, for one instance that remembers from matrix to matrix."""
    return lambda j: instance(torch.tensor(j)).numpy()


def sdmgrad(n_iter, lr):
    def step(j):
        t = torch.tensor(j)
        return (tj.SDMGradWeighting(lr=lr, n_iter=n_iter)(t @ t.T) @ t).numpy()

    return step


def nash(niter):
    made = {}

    def step(j):
        k = len(j)
        if k not in made:
            made[k] = tj.NashMTL(n_tasks=k, max_norm=1.0, update_weights_every=1, optim_niter=niter)
        made[k].reset()
        return made[k](torch.tensor(j)).numpy()

    return step


def comparisons():
    """(label, our method, our parameters, the peer, rows); rows is None for 2 to 8."""
    exact = QuadprogProjector(norm_eps=0.0, reg_eps=1e-12)
    crmogm = tj.GramianWeightedAggregator(tj.CRMOGMWeighting(tj.UPGradWeighting(projector=exact)))
    return [
        ("Mean", "avggrad", {}, aggregator(lambda k: tj.Mean()), None),
        ("Sum", "sum", {}, aggregator(lambda k: tj.Sum()), None),
        ("Constant(1, …, 1)", "constant", {}, aggregator(lambda k: tj.Constant(torch.ones(k))), None),
        ("MGDA(1e-3, 100), default", "mgda", {}, aggregator(lambda k: tj.MGDA()), None),
        ("MGDA(1e-9, 1000)", "mgda", {}, aggregator(lambda k: tj.MGDA(1e-9, 1000)), None),
        ("UPGrad, default", "upgrad", {}, aggregator(lambda k: tj.UPGrad()), None),
        ("UPGrad(0, 1e-12)", "upgrad", {}, aggregator(lambda k: tj.UPGrad(projector=exact)), None),
        ("DualProj, default", "dualproj", {}, aggregator(lambda k: tj.DualProj()), None),
        ("DualProj(0, 1e-12)", "dualproj", {}, aggregator(lambda k: tj.DualProj(projector=exact)), None),
        ("AlignedMTL(min)", "aligned-mtl", {}, aggregator(lambda k: tj.AlignedMTL()), None),
        ("AlignedMTL(median)", "aligned-mtl", {"scale": "median"}, aggregator(lambda k: tj.AlignedMTL(scale_mode="median")), None),
        ("AlignedMTL(rmse)", "aligned-mtl", {"scale": "rmse"}, aggregator(lambda k: tj.AlignedMTL(scale_mode="rmse")), None),
        ("CAGrad(0.5)", "cagrad", {"c": 0.5}, aggregator(lambda k: tj.CAGrad(0.5, norm_eps=0.0)), None),
        ("ConFIG", "config", {}, aggregator(lambda k: tj.ConFIG()), None),
        ("IMTLG", "imtl-g", {}, aggregator(lambda k: tj.IMTLG()), None),
        ("FairGrad(1)", "fairgrad", {"alpha": 1}, aggregator(lambda k: tj.FairGrad(1.0)), None),
        ("FairGrad(2)", "fairgrad", {"alpha": 2}, aggregator(lambda k: tj.FairGrad(2.0)), None),
        ("NashMTL, 20 iterations", "nash-mtl", {}, nash(20), None),
        ("SDMGrad, 20 iterations, default", "sdmgrad", {}, sdmgrad(20, 10.0), None),
        ("SDMGrad, 500 iterations at lr 0.5", "sdmgrad", {}, sdmgrad(500, 0.5), None),
        ("PCGrad, K = 2", "pcgrad", {}, aggregator(lambda k: tj.PCGrad()), 2),
        ("GradVac(0.5), K = 2, one run", "gradvac", {"beta": 0.5}, kept(tj.GradVac(0.5)), 2),
        ("CRMOGM(UPGrad, 0.9), K = 4, one run", "cr-mogm", {"method": "upgrad"}, kept(crmogm), 4),
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
    for label, method, params, peer, k in comparisons():
        if args.only not in label:
            continue
        drawn = list(matrices(args.count, args.seed, k))
        steps = ours(args.binary, method, params, [{"jacobian": j.tolist()} for j in drawn])
        differences, failures, start = [], 0, time.perf_counter()
        for j, d in zip(drawn, steps):
            try:
                differences.append(difference(d, peer(j)))
            except Exception:  # each peer has its own solver's errors
                failures += 1
        report(rows, label, method, args.count, differences, failures, time.perf_counter() - start)

    rng = np.random.default_rng(args.seed + 1)
    drawn = list(matrices(args.count, args.seed))
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
