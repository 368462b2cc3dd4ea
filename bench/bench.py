#!/usr/bin/env python3
"""Measures our training step and its peers' on the same work, in one run.

    python3 bench/bench.py --out bench/out              # on the CPU
    python3 bench/bench.py --device cuda --out bench/out-gpu

The work is one class-incremental step: K batches of random images from host memory, J over all parameters,
JJᵀ, MGDA's weights, Adam. Every contender runs in a process of its own; all of one workload are alive at
once and make a few steps each in turn, so that noise of the machine hits all. A turn in which other programs
took more of the machine than --calm is made again, at most --again times. A ratio is a contender's median time of a round over ours
of that round; its spread is the quartiles over the rounds. With one core every process is pinned to the same
one.

Peers come from requirements.txt into a throw-away environment. Each measurement is a file in OUT/parts, and a
second run measures only what is missing or failed. Each part names the machine, the commit and the versions that it was
measured with. OUT/logs has what the contenders print. OUT/bench.json, report.md and bench.png are made of all parts. A
contender that fails does not stop the others; it ends with 1 if one of ours failed.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from process import GPUMemory, Process, cores_there, last_words, others_busy, wait_calm
from report import AVX2, OURS, markdown

HERE = Path(__file__).resolve().parent
# name: script and variant
PEERS = {
    "PyTorch eager": ("torch_step.py", "eager"),
    "torch.compile": ("torch_step.py", "compile"),
    "TorchJD MGDA": ("torch_step.py", "torchjd-mgda"),
    "TorchJD UPGrad": ("torch_step.py", "torchjd-upgrad"),
    "JAX vmap": ("jax_step.py", "vmap"),
    "JAX lax.map": ("jax_step.py", "map"),
    "JAX K calls": ("jax_step.py", "calls"),
}


def workloads(a):
    """(model, flags, cores, numbers of rows, contenders, seconds of a turn, warm-up steps) of what is compared."""
    gpu = a.device == "cuda"
    rows = range(2, 7)
    for cores in [a.cores] if gpu else sorted({1, min(2, a.cores)}):
        yield "mlp", {"batch": 128}, cores, rows, [*([] if gpu else [AVX2]), *PEERS], 0.5, 20
    if gpu:
        yield "resnet18", {"batch": 128, "width": 64}, a.cores, rows, list(PEERS), 2, 5
        return
    yield "resnet18", {"batch": 32, "width": 16}, a.cores, rows, [AVX2, *PEERS], 1, 2
    yield "resnet18", {"batch": 32, "width": 64}, a.cores, (2, 3), [AVX2, *PEERS], 1, 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "out", help="folder of the results (%(default)s)")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--rounds", type=int, default=8, help="turns of every contender (%(default)s)")
    parser.add_argument("--calm", type=float, help="cores that other programs may take during a turn (0.1; on a GPU a twentieth of all)")
    parser.add_argument("--again", type=int, help="how often a turn that was disturbed is made again (3; on a GPU once)")
    parser.add_argument("--wait", type=float, help="seconds to wait for a calm machine before a turn (20; on a GPU 2)")
    parser.add_argument("--only", default="", help="measure only parts whose name begins so, e.g. peers-mlp, methods, memory")
    parser.add_argument("--patience", type=float, default=60, help="seconds for one step, beyond which a contender is given up (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="try everything: K=2 and 3, small ResNets, two rounds")
    parser.add_argument("--contenders", help="measure only these beside ours, e.g. 'JAX vmap,PyTorch eager'")
    parser.add_argument("--as-is", action="store_true", help="install nothing into --venv")
    parser.add_argument("--venv", type=Path, help="keep the peers' environment here, and use it again")
    parser.add_argument("--pcl", type=Path, help="a built pcl (default: build this checkout's)")
    a = parser.parse_args()
    a.out = a.out.resolve()
    a.cores = len(cores_there())
    gpu = a.device == "cuda"  # where the processors matter less, and their machine is often shared
    for name, usual in {"calm": a.cores / 20 if gpu else 0.1, "again": 1 if gpu else 3, "wait": 2 if gpu else 20}.items():
        if getattr(a, name) is None:
            setattr(a, name, usual)
    if a.quick:
        a.rounds, a.again, a.wait = 2, 0, 0
    return a


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def write(path, text):
    """The file appears whole or not at all."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text)
    temporary.replace(path)


class Bench:
    def __init__(self, a, scratch):
        self.a, self.scratch = a, scratch
        self.parts, self.logs = a.out / "parts", a.out / "logs"
        for folder in (self.parts, self.logs):
            folder.mkdir(parents=True, exist_ok=True)
        self.measured, self.failed, self.peaks = "", False, {}
        self.python = self.environment()
        self.pcl = a.pcl.resolve() if a.pcl else self.build()
        self.about = {"machine": machine(), "device": a.device, "rounds": a.rounds, "commit": commit(), "peers": self.versions()}

    def versions(self):
        """The peers that are installed, as NAME==VERSION."""
        wanted = {package(line) for line in (HERE / "requirements.txt").read_text().splitlines()}
        installed = subprocess.run([self.python, "-m", "pip", "freeze"], stdout=subprocess.PIPE, text=True).stdout.splitlines()
        return [line for line in installed if package(line) in wanted]

    def environment(self):
        where = (self.a.venv or self.scratch / "venv").resolve()
        python = where / "bin" / "python"
        if not python.exists():
            say("Installing the peers into", where)
            subprocess.run([sys.executable, "-m", "venv", where], check=True)
        if self.a.as_is:
            return python
        needs = "requirements-gpu.txt" if self.a.device == "cuda" else "requirements.txt"
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / needs], check=True)
        return python

    def build(self):
        binary = self.scratch / "pcl"
        subprocess.run(["go", "build", "-o", binary, "./cmd/pcl"], cwd=HERE.parent, check=True)
        return binary

    def part(self, name, measure):
        """Measures what is not there yet, or failed."""
        path = self.parts / f"{name}.json"
        if path.exists() and not errors(json.loads(path.read_text())) or not name.startswith(self.a.only):
            return
        say(f"== {name} (load {os.getloadavg()[0]:.1f})")
        before, self.measured = os.getloadavg()[0], name
        result = measure()
        self.failed |= not {OURS, AVX2}.isdisjoint(errors(result))
        result |= {"name": name, "about": self.about, "load": [before, os.getloadavg()[0]], "at": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
        write(path, json.dumps(result, indent=1) + "\n")

    def ours(self, *flags):
        backend = "xla-cuda" if self.a.device == "cuda" else "xla-cpu"
        return [self.pcl, "--quiet", "bench", "step", "--backend", backend, *map(str, flags)]

    def command(self, name, model, flags, k, cores, warmup):
        sizes = [f"--{key}={value}" for key, value in flags.items()] + [f"--model={model}", f"--k={k}", f"--warmup={warmup}"]
        if name in (OURS, AVX2):
            return self.ours("--turns", "--method=mgda", *threads(model, cores), *["--vectors=avx2"] * (name == AVX2), *sizes)
        script, variant = PEERS[name]
        return [self.python, HERE / "contenders" / script, variant, f"--threads={cores}", f"--device={self.a.device}", *sizes]

    def start(self, name, command, cores):
        words = "-".join(name.replace(",", "").split())
        return Process(command, cores, self.a.patience, self.logs / f"{self.measured}-{words}.log")

    def compare(self, model, flags, cores, k, names, seconds, warmup):
        """The contenders' times, turn by turn."""
        results = {name: {"ms": [], "others": []} for name in names}
        alive, rounds = {}, {}  # who steps of 5 s and more makes only two turns
        for name in names:  # one after the other, so that first steps are measured alone
            process = self.start(name, self.command(name, model, flags, k, cores, warmup), cores)
            try:
                said, results[name]["first_step_seconds"] = process.ready(warmup)
                results[name]["parameters"] = said["parameters"]
                one = process.turn(1)["ms"][0]
                alive[name] = process, max(1, min(200, int(1e3 * seconds / one)))
                rounds[name] = self.a.rounds if one < 5e3 else 2
            except (TimeoutError, RuntimeError, OSError) as err:
                self.give_up(process, name, results, err)
        for turn in range(self.a.rounds):
            for name, (process, steps) in list(alive.items()):
                if turn >= rounds[name]:
                    continue
                try:
                    said, others = self.calm_turn(process, steps)
                    results[name]["ms"].append(said["ms"])
                    results[name]["others"].append(round(others, 3))
                    results[name]["peak_rss_bytes"] = said.get("peak_rss_bytes", 0)
                except (TimeoutError, RuntimeError, OSError) as err:
                    del alive[name]
                    self.give_up(process, name, results, err)
        for process, _ in alive.values():
            process.close()
        sizes = {r["parameters"] for r in results.values() if "parameters" in r}
        if len(sizes) > 1:
            sys.exit(f"the contenders' models differ: {sizes} parameters")
        found = {"peak_gflops": self.peak(cores), "gflop": products(model, k, **flags) / 1e9} if self.a.device == "cpu" else {}
        return {"kind": "peers", "model": model, **flags, "cores": cores, "k": k, **found, "contenders": results}

    def peak(self, cores):
        """The machine's product rate: the best of 20 products of large float32 matrices."""
        if cores not in self.peaks:
            wait_calm(self.a.calm, self.a.wait)
            process = Process([self.python, "-c", PRODUCT], cores, 60, self.logs / "peak.log")
            self.peaks[cores] = process.answer(120)
            process.close()
        return self.peaks[cores]

    def calm_turn(self, process, steps):
        """A turn, made again where other programs took too much of the machine; the calmest counts."""
        turns = []
        for _ in range(1 + self.a.again):
            wait_calm(self.a.calm, self.a.wait)
            turns.append(others_busy(process.child.pid, lambda: process.turn(steps)))
            if turns[-1][1] <= self.a.calm:
                break
        return min(turns, key=lambda turn: turn[1])

    def give_up(self, process, name, results, err):
        process.close()
        results[name]["error"] = str(err)
        say(f"   {name}: {err}")

    def memory(self, flags, k):
        """Peak memory of a few steps, one contender at a time."""
        results = {}
        for name in [OURS, "PyTorch eager", "TorchJD MGDA", "JAX vmap", "JAX K calls"]:
            sampler = GPUMemory(self.a.device)
            process = self.start(name, self.command(name, "resnet18", flags, k, self.a.cores, 1), self.a.cores)
            try:
                process.ready(1)
                said = process.turn(2)
                results[name] = {"peak_rss_bytes": said.get("peak_rss_bytes", 0)} | sampler.stop()
            except (TimeoutError, RuntimeError, OSError) as err:
                sampler.stop()
                results[name] = {"error": str(err)}
            process.close()
        return {"kind": "memory", "model": "resnet18", **flags, "k": k, "contenders": results}

    def methods(self, model, flags, k, steps, warmup, *more):
        """Our methods' steps, one of each in turn."""
        sizes = [f"--{key}={value}" for key, value in flags.items()]
        command = self.ours("--json", f"--model={model}", f"--k={k}", f"--steps={steps}", f"--warmup={warmup}", *threads(model, self.a.cores), *sizes, *more)
        result = {"kind": "methods", "model": model, **flags, "k": k}
        log = self.logs / f"{self.measured}.log"
        wait_calm(self.a.calm, 3 * self.a.wait)
        with log.open("w") as err:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=err, text=True)
        if done.returncode:
            say(f"   {last_words(log, done.returncode)}")
            return result | {"error": last_words(log, done.returncode)}
        return result | {"report": json.loads(done.stdout)}

    def run(self):
        quick, gpu = self.a.quick, self.a.device == "cuda"
        rows = (2, 3) if quick else range(2, 7)
        for model, flags, cores, ks, names, seconds, warmup in workloads(self.a):
            if quick and model == "resnet18":
                flags = flags | {"width": min(8, flags["width"]), "batch": 8}
            if self.a.contenders:
                names = [n for n in names if n == AVX2 or n in self.a.contenders.split(",")]
            for k in ks if not quick else rows:
                self.part(f"peers-{label(model, flags)}-{cores}core-k{k}", lambda: self.compare(model, flags, cores, k, [OURS, *names], seconds, warmup))
        batch, width = (8, 8) if quick else (128 if gpu else 32, 64)
        resnets = [{"batch": batch, "width": width}] if quick or gpu else [{"batch": 32, "width": 16}, {"batch": 32, "width": 64}]
        for model, flags in [("mlp", {"batch": 128}), *(("resnet18", r) for r in resnets)]:
            for k in rows:
                steps, warmup = (400, 20) if model == "mlp" else (30, 3) if gpu or flags["width"] < 64 else (7, 1)
                steps = 5 if quick else steps
                self.part(f"methods-{label(model, flags)}-k{k}", lambda: self.methods(model, flags, k, steps, warmup, "--method=avggrad,emgd-gmc"))
            self.part(f"edit-{label(model, flags)}-k3", lambda: self.methods(model, flags, 3, steps, warmup, "--method=avggrad,emgd-gmc", "--edit"))
        for k in rows if quick else (2, 4, 6, 10):
            self.part(f"memory-k{k}", lambda: self.memory({"batch": batch, "width": width}, k))
        self.report()

    def report(self):
        parts = [json.loads(p.read_text()) for p in sorted(self.parts.glob("*.json"), key=natural)]
        parts.sort(key=lambda p: (["peers", "methods", "memory"].index(p["kind"]), p["model"], p.get("width", 0), p["name"].startswith("edit")))
        write(self.a.out / "bench.json", json.dumps({"parts": parts}, indent=1) + "\n")
        text = markdown(parts)
        write(self.a.out / "report.md", text)
        subprocess.run([self.python, HERE / "draw.py", self.a.out / "bench.json", self.a.out / "bench.png"], check=True)
        print(text)


def threads(model, cores):
    """Of ours: what `pcl run` takes, a client per core for an MLP and a thread per core for a ResNet."""
    return [] if model == "mlp" else [f"--threads={cores}"]


PRODUCT = """
import time, numpy
x, best = numpy.ones((2048, 2048), numpy.float32), 1e9
for _ in range(20):
    began = time.perf_counter()
    x @ x
    best = min(best, time.perf_counter() - began)
print(2 * 2048**3 / best / 1e9)
"""


def products(model, k, batch, width=64, side=32):
    """Floating-point operations of a step's products: forward, and backward for the weights and, but in the first layer, the inputs."""
    if model == "mlp":
        layers = [784 * 128, 128 * 64, 64 * 62]
    else:
        layers, inputs = [side**2 * 9 * 3 * width], width
        for stage in range(4):
            places = (side // 2 >> stage) ** 2
            for i in range(2):
                out = width << stage
                layers += [places * 9 * inputs * out, places * 9 * out * out]
                layers += [places * inputs * out] * (stage > 0 and i == 0)
                inputs = out
        layers.append(inputs * 100)
    return 2 * k * batch * (3 * sum(layers) - layers[0])


def label(model, flags):
    return model if model == "mlp" else f"{model}-w{flags['width']}"


def natural(path):
    """Sorts k10 after k2."""
    return [int(t) if t.isdigit() else t for t in path.stem.replace("-k", "-k-").split("-")]


def package(line):
    """The package of a line NAME==VERSION."""
    return line.split("==")[0].lower().replace("_", "-")


def errors(part):
    """The contenders of a part that failed. In a part without contenders that is the program itself."""
    failed = [name for name, c in part.get("contenders", {}).items() if "error" in c]
    return failed + [OURS] * ("error" in part)


def commit():
    try:
        return subprocess.run(["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True).stdout.strip()
    except OSError:
        return "a commit that is not known, since there is no git"


def vectors():
    """The widest vector instructions of the processor, where it tells."""
    told = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    return next((name for flag, name in [(" avx512f ", "AVX-512"), (" avx2 ", "AVX2")] if flag in told), "unknown")


def machine():
    cpu = platform.processor()
    if Path("/proc/cpuinfo").exists():
        cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), cpu)
    found = {"system": platform.platform(), "cpu": cpu, "cores": len(cores_there()), "vectors": vectors()}
    if shutil.which("nvidia-smi"):
        found["gpu"] = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
    return found


def main():
    a = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(a, Path(scratch))
        bench.run()
    if bench.failed:
        sys.exit("a step of ours failed: OUT/logs says why")


if __name__ == "__main__":
    main()
