"""Contenders as processes, and how calm the machine is while they compute."""

import json
import os
import selectors
import subprocess
import threading
import time
from pathlib import Path


def cores_there():
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count()))


def busy():
    """Seconds that the machine's cores have computed since it started; None where it is not told."""
    try:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _, _, irq, soft, steal = map(int, fields[:8])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def own(pid):
    """Seconds that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def others_busy(pid, do):
    """Does something with a process; returns its result and how many cores others took meanwhile."""
    if busy() is None:
        return do(), 0.0
    began, all_before, own_before = time.perf_counter(), busy(), own(pid)
    result = do()
    others = (busy() - all_before) - (own(pid) - own_before)
    return result, max(0.0, others / (time.perf_counter() - began))


def wait_calm(most, seconds):
    """Waits until less than `most` cores compute, or the seconds are over."""
    until = time.time() + seconds
    while busy() is not None and time.time() < until:
        before = busy()
        time.sleep(0.3)
        if busy() - before < most * 0.3:
            return


def last_words(log, code):
    """What a program that has ended said last."""
    said = [line for line in log.read_text().splitlines() if line.strip()]
    return said[-1][:200] if said else f"exit code {code}"


class Process:
    """A contender: reads how many steps to make, answers with their times."""

    def __init__(self, command, cores, patience, log):
        self.patience, self.log = patience, log
        self.started = time.time()
        pin = None
        if hasattr(os, "sched_setaffinity"):
            pin = lambda: os.sched_setaffinity(0, cores_there()[:cores])
        self.child = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log.open("w"), text=True,
            preexec_fn=pin, env={k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"} | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
        )
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.child.stdout, selectors.EVENT_READ)

    def answer(self, seconds):
        if not self.selector.select(seconds):
            self.close()
            raise TimeoutError(f"no answer within {seconds:.0f} s")
        line = self.child.stdout.readline()
        if not line:
            self.close()
            raise RuntimeError(last_words(self.log, self.child.returncode))
        return json.loads(line)

    def ready(self, warmup):
        """Waits until the contender is warm; returns what it says and the seconds to its first step."""
        said = self.answer(120 + (warmup + 1) * self.patience)
        return said, said.get("first_step_seconds") or said["first_step_at"] - self.started

    def turn(self, steps):
        self.child.stdin.write(f"{steps}\n")
        self.child.stdin.flush()
        return self.answer(30 + steps * self.patience)

    def close(self):
        if self.child.poll() is None:
            self.child.stdin.close()
            try:
                self.child.wait(5)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()


class GPUMemory:
    """The largest memory in use on the GPU above what was in use before; nothing on the CPU."""

    def __init__(self, device):
        self.on, self.over = device == "cuda", threading.Event()
        self.before = self.peak = self.used()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        if self.on:
            self.thread.start()

    def used(self):
        if not self.on:
            return 0
        out = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True).stdout
        return int(out.split()[0]) << 20

    def watch(self):
        while not self.over.wait(0.1):
            self.peak = max(self.peak, self.used())

    def stop(self):
        self.over.set()
        return {"peak_device_bytes": self.peak - self.before} if self.on else {}
