"""Compares viz/tsne with scikit-learn's t-SNE on the same points.

    go build -o embed ./viz/tsne/internal/embed
    python bench/peers/tsne.py ./embed --images emnist-byclass-test-images-idx3-ubyte.gz --out tsne.json

Both run Barnes–Hut (θ = 0.5), 1,000 iterations from principal components, on one thread each:
threads that wait for each other make times on a busy machine meaningless. Both embeddings are
measured by tsne.KL, KL(P‖Q) in nats with the exact P and Q, and by the trustworthiness for 12
neighbours, checked against scikit-learn's. Each number is a mean over the seeds; seconds are those of
the embedding alone, neighbours included.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from importlib import metadata

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", GOMAXPROCS="1")  # before NumPy reads them

import numpy as np
from sklearn.datasets import load_digits, make_blobs
from sklearn.manifold import TSNE, trustworthiness

NEIGHBOURS = 12


def images(path, count):
    """The first images of an IDX file as rows of pixels in [0, 1]."""
    with gzip.open(path) as f:
        magic, n, height, width = np.frombuffer(f.read(16), ">i4")
        if magic != 0x803:
            sys.exit(f"{path}: not an IDX file of images")
        count = min(int(n), count)
        pixels = np.frombuffer(f.read(count * height * width), np.uint8)
    return pixels.reshape(count, -1) / 255


def data_sets(args):
    yield "digits", load_digits().data
    yield "20 Gaussian clusters", make_blobs(5000, 50, centers=20, cluster_std=4.0, random_state=0)[0]
    if args.images:
        yield "images", images(args.images, 5000)


def call(binary, problem, *flags):
    """What embed says of {"x": …} (embedded, then measured) or {"x": …, "y": …} (measured)."""
    command = [binary, "-k", str(NEIGHBOURS), *flags]
    done = subprocess.run(command, input=json.dumps(problem), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def compare(binary, x, seed, perplexity):
    """(KL, trustworthiness, seconds) of ours and of the peer's, and how far the rulers differ."""
    points = x.tolist()
    flags = ["-perplexity", str(perplexity)]
    ours = call(binary, {"x": points}, *flags, "-seed", str(seed))
    start = time.perf_counter()
    y = TSNE(perplexity=perplexity, random_state=seed).fit_transform(x).astype(float)
    seconds = time.perf_counter() - start
    peer = call(binary, {"x": points, "y": y.tolist()}, *flags)
    ruler = abs(peer["trustworthiness"] - trustworthiness(x, y, n_neighbors=NEIGHBOURS))
    return [[r["kl"], r["trustworthiness"], s] for r, s in ((ours, ours["seconds"]), (peer, seconds))], ruler


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the embed program")
    parser.add_argument("--images", help="an IDX file of images (.gz); its first 5,000 are embedded too")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--perplexity", type=float, default=30)
    parser.add_argument("--out", default="tsne.json", help="where the table goes as JSON")
    args = parser.parse_args()

    rows = []
    print(f"{'data':22} {'n':>5} {'d':>4} {'KL':>7} {'peer':>7} {'ratio':>6} {'trust':>7} {'peer':>7} {'ruler':>8} {'s':>6} {'peer s':>7} {'ratio':>6}")
    for name, x in data_sets(args):
        runs = [compare(args.binary, x, seed, args.perplexity) for seed in range(args.seeds)]
        (kl, trust, s), (peer_kl, peer_trust, peer_s) = np.mean([r[0] for r in runs], axis=0)
        ruler = max(r[1] for r in runs)
        rows.append({
            "data": name, "n": len(x), "d": x.shape[1], "kl": kl, "peer_kl": peer_kl, "trustworthiness": trust,
            "peer_trustworthiness": peer_trust, "ruler_difference": ruler, "seconds": s, "peer_seconds": peer_s,
        })
        print(f"{name:22} {len(x):5} {x.shape[1]:4} {kl:7.4f} {peer_kl:7.4f} {kl / peer_kl:6.3f} {trust:7.4f} {peer_trust:7.4f} "
              f"{ruler:8.1e} {s:6.1f} {peer_s:7.1f} {peer_s / s:6.1f}", flush=True)

    versions = {name: metadata.version(name) for name in ("scikit-learn", "numpy", "scipy")}
    with open(args.out, "w") as f:
        json.dump({"perplexity": args.perplexity, "seeds": args.seeds, "versions": versions, "data_sets": rows}, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
