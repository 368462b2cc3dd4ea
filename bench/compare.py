#!/usr/bin/env python3
"""Compares the first steps of two runs of one configuration, from their records.jsonl (pcl run --record).

    python3 bench/compare.py cpu/*/records.jsonl gpu/*/records.jsonl --steps 50 --tolerance 0.01

Prints the largest difference of the losses (relative), of the Gram matrix M (relative to √(MᵢᵢMⱼⱼ)), and of the
weights and of λ (relative to the largest), over all steps and in the first. Both runs go on from their own
parameters, so differences of rounding grow from step to step. Exits with 1 where one is above the tolerance.
"""

import argparse
import json
import math
import sys


def largest(values):
    """The largest of some numbers; one that is none counts as larger than all."""
    values = list(values)
    return math.inf if any(map(math.isnan, values)) else max(values, default=0.0)


def relative(a, b):
    return largest(abs(x - y) / max(abs(x), abs(y), 1e-30) for x, y in zip(a, b))


def to_largest(a, b):
    scale = max((abs(x) for x in [*a, *b]), default=0.0) or 1.0
    return largest(abs(x - y) / scale for x, y in zip(a, b))


def gram(a, b):
    k = math.isqrt(len(a))
    norm = [math.sqrt(max(a[i * k + i], 1e-300)) for i in range(k)]
    return largest(abs(a[i * k + j] - b[i * k + j]) / (norm[i] * norm[j]) for i in range(k) for j in range(k))


DIFFERENCES = {"losses": relative, "gram": gram, "weights": to_largest, "lambda": to_largest}


def compare(a, b):
    """The difference of each quantity of a step."""
    if a["ids"] != b["ids"]:
        sys.exit(f"step {a['step']}: rows {a['ids']} and {b['ids']}; these are not runs of one configuration")
    for name in DIFFERENCES:
        if len(a.get(name, [])) != len(b.get(name, [])):
            sys.exit(f"step {a['step']}: {len(a.get(name, []))} and {len(b.get(name, []))} numbers of {name}; these are not runs of one configuration")
    return {name: measure(a.get(name, []), b.get(name, [])) for name, measure in DIFFERENCES.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs=2)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--tolerance", type=float, required=True)
    a = parser.parse_args()
    first, second = ([json.loads(line) for line in open(path)][: a.steps] for path in a.records)
    if min(len(first), len(second)) < a.steps:
        sys.exit(f"{len(first)} and {len(second)} steps recorded, {a.steps} are to be compared")
    steps = [compare(x, y) for x, y in zip(first, second)]
    worst = {name: max(s[name] for s in steps) for name in DIFFERENCES}
    for name, value in worst.items():
        print(f"{name:8} first step {steps[0][name]:.1e}, largest of {a.steps} steps {value:.1e}")
    good = max(worst.values()) <= a.tolerance
    print(f"{'within' if good else 'ABOVE'} the tolerance of {a.tolerance:g}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
