"""Draws the ratios of bench.json: one panel per workload, a contender's time over ours against K."""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import report

STYLE = {  # colour and marker: Okabe and Ito's palette
    "PyTorch eager": ("#D55E00", "o"), "torch.compile": ("#E69F00", "s"), "TorchJD MGDA": ("#CC79A7", "^"),
    report.AVX2: ("#555555", "*"), "TorchJD UPGrad": ("#882255", "v"), "JAX vmap": ("#0072B2", "D"), "JAX lax.map": ("#56B4E9", "X"), "JAX K calls": ("#009E73", "P"),
}


def draw(axes, parts):
    for name, (color, marker) in STYLE.items():
        points = [(p["k"], report.ratios(p, name)) for p in parts if name in p["contenders"]]
        points = [(k, r) for k, r in points if r]
        if not points:
            continue
        ks = [k for k, _ in points]
        middle = [r[1] for _, r in points]
        spread = [[r[1] - r[0] for _, r in points], [r[2] - r[1] for _, r in points]]
        axes.errorbar(ks, middle, spread, color=color, marker=marker, capsize=3, label=name)
    axes.axhline(1, color="black", linewidth=1)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}×")
    axes.yaxis.set_minor_formatter(lambda y, _: f"{y:g}×" if f"{y:e}"[0] in "25" else "")
    axes.set_xticks(sorted({p["k"] for p in parts}))
    axes.set_xlabel("rows of J, K")
    cores = parts[0]["cores"]
    axes.set_title(f"{report.title(parts[0])}, {cores} core{'s' * (cores > 1)}", fontsize=9)
    axes.grid(alpha=0.3)


def main():
    source, out = sys.argv[1:]
    about = json.load(open(source))
    peers = [p for p in about["parts"] if p["kind"] == "peers"]
    groups = {}
    for p in peers:
        groups.setdefault((report.title(p), p["cores"]), []).append(p)
    if not groups:
        return
    columns = min(2, len(groups))
    lines = -(-len(groups) // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(5.2 * columns, 3.6 * lines + 0.7), squeeze=False, layout="constrained")
    panels = list(grid.flat)
    for axes, parts in zip(panels, groups.values()):
        draw(axes, parts)
    for axes in panels[len(groups) :]:
        axes.remove()
    for line in grid:
        line[0].set_ylabel("time of a step / ours")
    handles = {label: h for axes in panels[: len(groups)] for h, label in zip(*axes.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(out, dpi=160)


if __name__ == "__main__":
    main()
