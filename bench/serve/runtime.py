"""Predicts single samples with ONNX Runtime: python -c TEXT network.onnx RATE SECONDS."""

import sys
import time

import numpy
import onnxruntime

file, rate, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])


def measured(session, pause):
    """Seconds of each prediction, after pauses of so many seconds, sorted."""
    asked = session.get_inputs()[0]
    shape = [1] + [n for n in asked.shape[1:]]
    x, times, began = numpy.random.default_rng(1).random(shape, numpy.float32), [], time.perf_counter()
    while time.perf_counter() - began < seconds:
        time.sleep(pause)
        at = time.perf_counter()
        session.run(None, {asked.name: x})
        times.append(time.perf_counter() - at)
    return sorted(times), time.perf_counter() - began


for threads in 1, 2:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    at = time.perf_counter()
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    opened = time.perf_counter() - at
    for name, pause in ("one after another", 0), (f"{rate:g} a second", 1 / rate):
        times, took = measured(session, pause)
        half, most = (1e3 * times[int(q * (len(times) - 1))] for q in (0.5, 0.95))
        print(
            f"ONNX Runtime {onnxruntime.__version__}, in process, {threads} threads, {name}: "
            f"p50 {half:.2f} p95 {most:.2f} ms, {len(times) / took:.0f}/s, opened in {1e3 * opened:.0f} ms",
            flush=True,
        )
