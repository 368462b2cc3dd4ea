"""Times the package parallelcl beside TorchJD in one run, and prints a Markdown table: python steps.py [--repeat N]

It needs the packages parallelcl, torch and torchjd. Numbers are processor milliseconds, the smallest of N turns, in which
all contenders of a line do the same work one after another, on one thread. A step is a forward pass of one batch, K losses
of samples of their own, and the weighted gradient; the sum is a step of plain PyTorch. Both sides weigh by UPGrad. The
memory of a contender is how much larger the peak of a process becomes by its steps than by plain ones. Each is measured in
a process of its own, on Linux.
"""

import argparse
import functools
import subprocess
import sys
import time
import warnings

import torch
from torch.nn import Conv2d, Flatten, Linear, MaxPool2d, ReLU, Sequential
from torch.nn.functional import cross_entropy
from torchjd.aggregation import UPGradWeighting
from torchjd.autogram import Engine as Autogram

import parallelcl
from parallelcl.torch import Engine, backward

CASES = {  # name: network, shape of a sample, K, samples
    "MLP, K = 3": ("mlp", 3, 96), "MLP, K = 8": ("mlp", 8, 96), "MLP, K = 32": ("mlp", 32, 96), "MLP, per sample": ("mlp", 64, 64),
    "conv, K = 3": ("conv", 3, 63), "conv, K = 8": ("conv", 8, 64), "conv, K = 32": ("conv", 32, 64), "conv, per sample": ("conv", 64, 64),
}


def network(kind):
    torch.manual_seed(0)
    if kind == "mlp":
        return Sequential(Linear(784, 256), ReLU(), Linear(256, 128), ReLU(), Linear(128, 10))
    return Sequential(
        Conv2d(3, 32, 3, padding=1), ReLU(), MaxPool2d(2), Conv2d(32, 64, 3, padding=1), ReLU(), MaxPool2d(2), Flatten(), Linear(4096, 10)
    )


def contenders(case):
    """Functions that make one step each; those that weigh return the weights."""
    kind, k, batch = CASES[case]
    x = torch.randn(batch, *((784,) if kind == "mlp" else (3, 32, 32)), generator=torch.Generator().manual_seed(1))
    y = torch.randint(10, (batch,), generator=torch.Generator().manual_seed(2))

    def losses(net):
        net.zero_grad()
        return cross_entropy(net(x), y, reduction="none").reshape(k, -1).mean(1)

    plain, passes, ours, theirs = (network(kind) for _ in range(4))
    rule, engine = parallelcl.Rule("upgrad"), Engine(ours)
    gramian, weigh = Autogram(theirs, batch_dim=0 if k == batch else None), UPGradWeighting()

    def autogram():
        found = losses(theirs)
        weights = weigh(gramian.compute_gramian(found))
        found.backward(weights)
        return weights

    return {
        "sum": lambda: losses(plain).sum().backward(),
        "K passes": lambda: backward(losses(passes), passes, rule),
        "Engine": lambda: engine.backward(losses(ours), rule),
        "TorchJD": autogram,
    }


def least(functions, repeat, inner=1):
    """The least processor time of each function in ms, in turns."""
    for f in functions.values():
        f()
    times = {name: [] for name in functions}
    for _ in range(repeat):
        for name, f in functions.items():
            begin = time.process_time()
            for _ in range(inner):
                f()
            times[name].append((time.process_time() - begin) / inner * 1e3)
    return {name: min(found) for name, found in times.items()}


def weights(repeat):
    print("| weights from a Gram matrix, µs | emgd-gmc | upgrad | TorchJD UPGrad |\n| --- | --- | --- | --- |")
    for k in (3, 8, 32):
        j = torch.randn(k, 200, generator=torch.Generator().manual_seed(0)) + 0.1
        given, gram = (j @ j.T).double().numpy(), j @ j.T
        functions = {name: functools.partial(parallelcl.Rule(name).weights, given) for name in ("emgd-gmc", "upgrad")}
        functions["TorchJD"] = functools.partial(UPGradWeighting(), gram)
        print(f"| K = {k} |", " | ".join(f"{1e3 * t:.1f}" for t in least(functions, repeat, 20).values()), "|", flush=True)


def steps(repeat):
    print("\n| step, ms | sum | K passes | Engine | TorchJD | Engine / sum | largest difference of weights | TorchJD's | MB more: Engine | TorchJD |")
    print("| --- " * 10 + "|")
    for case in CASES:
        functions = contenders(case)
        want = functions["K passes"]()
        off = [float((functions[name]().double() - want).abs().max()) for name in ("Engine", "TorchJD")]
        small = CASES[case][0] == "mlp"  # whose steps are short, and take no memory to speak of
        t = least(functions, repeat * (8 if small else 1))
        grown = ["", ""] if small else [grows(case, name) for name in ("Engine", "TorchJD")]
        cells = [f"{t[n]:.1f}" for n in ("sum", "K passes", "Engine", "TorchJD")]
        print(f"| {case} |", " | ".join([*cells, f"{t['Engine'] / t['sum']:.1f}", *(f"{x:.0e}" for x in off), *grown]), "|", flush=True)


def grows(case, name):
    return subprocess.check_output([sys.executable, __file__, "--memory", case, name], text=True).strip()


def memory(case, name):
    """Prints by how many MB a contender's steps raise the peak of a process that has made plain steps."""
    functions = contenders(case)
    for _ in range(3):
        functions["sum"]()
    before = peak()
    for _ in range(3):
        functions[name]()
    print(f"{peak() - before:.0f}")


def peak():
    """The largest resident size of this process so far, in MB. resource.getrusage begins with the parent's peak instead."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="parallelcl beside TorchJD.")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--memory", nargs=2, metavar=("CASE", "CONTENDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if given.memory:
        memory(*given.memory)
    else:
        weights(given.repeat)
        steps(given.repeat)
