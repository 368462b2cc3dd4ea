"""What every contender shares: the work, the weights, and how it takes turns.

A contender makes its first step, warms up, prints a JSON line, and then, for each line of standard input
(a number of steps), times that many steps and prints a JSON line with their milliseconds.
"""

import argparse
import itertools
import json
import sys
import time
from pathlib import Path

import numpy as np

CLASSES_PER_TASK = 2
LR, BETA1, BETA2, EPSILON = 0.001, 0.9, 0.999, 1e-7


def arguments():
    parser = argparse.ArgumentParser(description="One contender of bench.py.")
    parser.add_argument("variant")
    parser.add_argument("--model", choices=["mlp", "resnet18"], required=True)
    parser.add_argument("--width", type=int, default=64, help="channels of the ResNet's stem")
    parser.add_argument("--side", type=int, default=32, help="height and width of the ResNet's images")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--k", type=int, required=True)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    return parser.parse_args()


def outputs(a):
    return 62 if a.model == "mlp" else 100


def batches(a, shape, count=4):
    """The images of every stream, [count, K, B, …] float32, and their classes, [K, B]."""
    x = np.random.default_rng(1).random((count, a.k, a.batch, *shape), dtype=np.float32)
    y = np.stack([CLASSES_PER_TASK * i + np.arange(a.batch) % CLASSES_PER_TASK for i in range(a.k)])
    return x, y


def min_norm(m):
    """argmin λᵀMλ with Σλ = 1, λ ≥ 0 (MGDA), exactly: from the support of all rows the negative ones
    leave one by one; where that misses the optimum, the best of all supports."""
    support = list(range(len(m)))
    while True:
        inner = np.linalg.solve(m[np.ix_(support, support)], np.ones(len(support)))
        inner /= inner.sum()
        if inner.min() >= 0:
            break
        del support[int(inner.argmin())]
    weights = np.zeros(len(m))
    weights[support] = inner
    slope = m @ weights
    if slope.min() >= weights @ slope * (1 - 1e-9):
        return weights
    return enumerated(m)


def enumerated(m):
    best, found = np.inf, None
    for size in range(1, len(m) + 1):
        for support in map(list, itertools.combinations(range(len(m)), size)):
            inner = np.linalg.lstsq(m[np.ix_(support, support)], np.ones(size), rcond=None)[0]
            weights = np.zeros(len(m))
            weights[support] = inner / inner.sum()
            if weights.min() >= -1e-12 and weights @ m @ weights < best:
                best, found = weights @ m @ weights, np.maximum(weights, 0)
    return found


def forget_peak_rss():
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass  # peak_rss then counts from the process's start


def peak_rss():
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return int(status.split("VmHWM:")[1].split()[0]) << 10


def take_turns(a, step, parameters):
    """step() makes one whole step and returns when it is done."""
    if parameters != {"mlp": 112_766}.get(a.model, parameters):
        sys.exit(f"a model of {parameters} parameters is not the benchmark's")
    step()
    began = time.time()  # of the process: what bench.py compares with
    for _ in range(a.warmup):
        step()
    forget_peak_rss()
    print(json.dumps({"parameters": parameters, "first_step_at": began}), flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            start = time.perf_counter()
            step()
            times.append(1e3 * (time.perf_counter() - start))
        print(json.dumps({"ms": times, "peak_rss_bytes": peak_rss()}), flush=True)
