#!/usr/bin/env python3
"""Measures a notebook's cells in our kernel and in stock GoNB (docs/gonb.md), in turns on one machine.

    python3 bench/kernel.py --rounds 5 --module .

Both kernels, "parallelcl" and "gonb", must be installed, with goimports and gopls for the latter; Python needs
jupyter_client and psutil. The cells are the same in both. Each number is the median over the rounds, in seconds; memory is
that of the kernel and all of its processes. --cold measures the first cell that uses pcl with an empty cache of Go's.
"""

import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
from jupyter_client import KernelManager

KERNELS = {"parallelcl": "ours", "gonb": "GoNB"}
HERE = Path(__file__).resolve().parent
FMT = '%%\nfmt.Println("cell {}")'
PCL = '%%\ncfg := experiment.Config{{Method: "emgd", Dataset: "glyphs", Seed: {}}}\nfmt.Println(cfg.Method, cfg.Seed)'
FIGURE = "%%\nnb.Plot([]float64{{1, 2, 3}}, []float64{{2, 4, {}}})"
SLEEP = "%%\ntime.Sleep(60 * time.Second)"


class Kernel:
    """A running kernel with a module to use; counts its cells, so that no two are the same."""

    def __init__(self, name, module):
        self.name, self.module, self.cells = name, module, 0
        begin = time.time()
        self.manager = KernelManager(kernel_name=name)
        self.manager.start_kernel(stderr=subprocess.DEVNULL)
        self.connect()
        self.ready = time.time() - begin

    def connect(self):
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=300)

    def prepare(self):
        """Stock GoNB begins as docs/gonb.md says."""
        if self.name == "gonb":
            path = "github.com/parallelcl/parallelcl"
            names = re.search(r"^```go\n(.*?)^```", (HERE.parent / "docs/gonb.md").read_text(), re.M | re.S)[1]
            self.run(f"!*go mod edit -require={path}@v0.0.0 -replace={path}={self.module}")
            self.run(names)

    def run(self, code):
        """Seconds until a cell has ended without an error."""
        self.cells += 1
        begin, said = time.time(), []
        reply = self.client.execute_interactive(code.format(self.cells) if "{}" in code else code, timeout=1200, output_hook=said.append)
        if reply["content"]["status"] != "ok":
            raise SystemExit(f"{self.name}: {code}\n" + "\n".join(str(m["content"]) for m in said))
        return time.time() - begin

    def complete(self):
        begin = time.time()
        self.client.complete("fmt.Pri", reply=True, timeout=60)
        return time.time() - begin

    def beside(self):
        """Completion beside a running cell, and how long it takes to stop that cell; a completion not answered in 10 s counts as 10."""
        self.client.execute(SLEEP)
        time.sleep(3)
        begin = time.time()
        try:
            self.client.complete("fmt.Pri", reply=True, timeout=10)
        except TimeoutError:
            pass
        asked, begin = time.time() - begin, time.time()
        self.manager.interrupt_kernel()
        while True:
            if self.client.get_shell_msg(timeout=60)["msg_type"] == "execute_reply":
                return asked, time.time() - begin

    def memory(self):
        kernel = psutil.Process(self.manager.provisioner.process.pid)
        return sum(p.memory_info().rss for p in [kernel, *kernel.children(recursive=True)]) / 2**20

    def restart(self):
        begin = time.time()
        self.manager.restart_kernel(now=True)
        self.connect()
        self.prepare()
        self.run(FMT)
        return time.time() - begin

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def measure(name, module):
    k = Kernel(name, module)
    try:
        k.prepare()
        k.run(FMT), k.run(PCL), k.run(FIGURE)  # the first of each kind compiles what it imports
        found = {"kernel ready": k.ready}
        found["fmt cell"] = statistics.median(k.run(FMT) for _ in range(5))
        found["cell using pcl"] = statistics.median(k.run(PCL) for _ in range(3))
        found["figure cell"] = statistics.median(k.run(FIGURE) for _ in range(3))
        k.complete()
        found["completion"] = k.complete()
        found["completion beside a running cell"], found["stop"] = k.beside()
        found["MiB after 15 cells"] = k.memory()
        for _ in range(50):
            k.run(FMT)
        found["MiB after 50 more"] = k.memory()
        found["restart to the first cell's end"] = k.restart()
        return found
    finally:
        k.close()


def cold(name, module):
    """The first cells of a new machine: fmt, then pcl, with an empty cache of Go's."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["GOCACHE"] = cache
        k = Kernel(name, module)
        try:
            k.prepare()
            return {"first fmt cell, cold cache": k.run(FMT), "first pcl cell, cold cache": k.run(PCL)}
        finally:
            k.close()


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--module", type=Path, default=HERE.parent)
    a.add_argument("--cold", action="store_true")
    a = a.parse_args()
    rounds = {name: [] for name in KERNELS}
    for i in range(a.rounds):
        for name in KERNELS:
            rounds[name].append((cold if a.cold else measure)(name, a.module.resolve()))
            print(f"round {i + 1}, {KERNELS[name]}:", rounds[name][-1], flush=True)
    print("\n| |", " | ".join(KERNELS.values()), "|\n| --- | --- | --- |")
    for what in rounds["parallelcl"][0]:
        row = [statistics.median(r[what] for r in rounds[name]) for name in KERNELS]
        print(f"| {what} |", " | ".join(f"{x:.0f}" if "MiB" in what else f"{x:.3g}" for x in row), "|")


if __name__ == "__main__":
    main()
