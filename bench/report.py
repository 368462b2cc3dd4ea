"""The tables of bench.json, in Markdown."""

import statistics

OURS = "ParallelCL"
AVX2 = "ParallelCL, AVX2"


def quartiles(sample):
    if len(sample) < 2:
        return [sample[0]] * 3
    return statistics.quantiles(sample, n=4, method="inclusive")


def ratios(part, name):
    """Quartiles over the rounds of a contender's time to ours; None where either is missing."""
    own, peer = part["contenders"][OURS]["ms"], part["contenders"][name]["ms"]
    both = [statistics.median(p) / statistics.median(o) for o, p in zip(own, peer)]
    return quartiles(both) if both else None


def table(rows, head):
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, ["---"] * len(head), *rows]) + "\n"


def title(part):
    if part["model"] == "mlp":
        return f"MLP 784-128-64-62, batch {part['batch']}"
    return f"ResNet-18, width {part['width']}, batch {part['batch']}"


def origins(parts):
    """Where the parts were measured: one paragraph for each machine, commit and set of versions."""
    groups = {}
    for p in parts:
        groups.setdefault(origin(p), []).append(p["name"])
    if len(groups) < 2:
        return [f"{text}\n" for text in groups]
    warning = "These parts were not all measured on one machine with the same programs: compare only those of one line.\n"
    return [warning, *(f"* {text} Parts: {', '.join(names)}.\n" for text, names in groups.items())]


def origin(part):
    about = part.get("about")
    if not about:
        return "Machine, commit and versions are not known."
    m = about["machine"]
    where = m.get("gpu", "a GPU") if about["device"] == "cuda" else m["cpu"]
    return f"{where}, {m['cores']} cores, vectors {m.get('vectors', 'unknown')}, {m['system']}, {about['commit']}, {about['rounds']} rounds. {', '.join(about['peers'])}."


def markdown(parts):
    out = ["# Steps\n", *origins(parts)]
    peers = [p for p in parts if p["kind"] == "peers"]
    for group in dict.fromkeys((title(p), p["cores"]) for p in peers):
        same = [p for p in peers if (title(p), p["cores"]) == group]
        names = dict.fromkeys(n for p in same for n in p["contenders"] if n != OURS)
        out.append(f"## {group[0]}, {group[1]} core{'s' * (group[1] > 1)}\n\nmedian ms per step, and its ratio to ours [quartiles over the rounds]; above 1 ours is faster.\n")
        head = ["", *(f"K={p['k']}" for p in same)]
        out.append(table([[n, *(cell(p, n) for p in same)] for n in [OURS, *names]], head))
        if all("gflop" in p for p in same):
            out.append(f"Share of the machine's peak, {max(p['peak_gflops'] for p in same):.0f} GFLOP/s in a large float32 product, that the step's own products reach.\n")
            out.append(table([[n, *(share(p, n) for p in same)] for n in [OURS, *names]], head))
        first = [[n, *(first_step(p, n) for p in same)] for n in [OURS, *names]]
        out.append("Seconds from the start of the process to the end of its first step.\n")
        out.append(table(first, head))
        others = sorted(x for p in same for c in p["contenders"].values() for x in c["others"])
        if others:
            out.append(f"Other programs took {statistics.median(others):.2f} cores during the median turn, {others[-1]:.2f} during the worst.\n")
    out += methods_tables([p for p in parts if p["kind"] == "methods"])
    out += memory_tables([p for p in parts if p["kind"] == "memory"])
    return "\n".join(out)


def cell(part, name):
    c = part["contenders"].get(name, {})
    if not c.get("ms"):
        return c.get("error", "–").replace("|", "/")
    ms = f"{statistics.median([x for turn in c['ms'] for x in turn]):.4g}"
    r = None if name == OURS else ratios(part, name)
    return ms if r is None else f"{ms} · {r[1]:.2f} [{r[0]:.2f}, {r[2]:.2f}]"


def share(part, name):
    turns = part["contenders"].get(name, {}).get("ms")
    if not turns:
        return "–"
    return f"{100 * 1e3 * part['gflop'] / statistics.median([x for t in turns for x in t]) / part['peak_gflops']:.0f} %"


def first_step(part, name):
    seconds = part["contenders"].get(name, {}).get("first_step_seconds")
    return "–" if seconds is None else f"{seconds:.1f}"


def methods_tables(parts):
    if not parts:
        return []
    rows = []
    for p in parts:
        if "error" in p:
            rows.append([title(p), p["k"], p["error"].replace("|", "/"), *["–"] * 4])
            continue
        report = p["report"]
        base, ours, *edited = [m["ms"] for m in report["methods"]]
        q, edit = quartiles([o / b for b, o in zip(base, ours)]), "–"
        if edited:
            added = quartiles([(e - o) / o for e, o in zip(edited[0], ours)])
            edit = f"{added[1]:.2f} [{added[0]:.2f}, {added[2]:.2f}]"
        rows.append([title(p), f"{p['k']}{' with memory' * report['memory']}", f"{statistics.median(base):.4g}", f"{statistics.median(ours):.4g}",
                     f"{q[1]:.3f} [{q[0]:.3f}, {q[2]:.3f}]", edit, f"{report['first_step_seconds']:.1f}"])
    return ["## EMGD (GMC) beside AvgGrad, step by step in turn\n",
            table(rows, ["work", "K", "AvgGrad, ms", "EMGD, ms", "EMGD / AvgGrad", "editing adds, EMGD steps", "first step, s"])]


def memory_tables(parts):
    if not parts:
        return []
    names = list(parts[0]["contenders"])
    out = []
    for key, what in [("peak_device_bytes", "on the GPU"), ("peak_rss_bytes", "of the process")]:
        if not any(key in c for p in parts for c in p["contenders"].values()):
            continue
        rows = []
        for n in names:
            at = {p["k"]: p["contenders"][n][key] / 1e6 for p in parts if key in p["contenders"][n]}
            each = "–"
            if len(at) > 1:
                each = f"{(at[max(at)] - at[min(at)]) / (max(at) - min(at)):.0f}"
            rows.append([n, *(f"{at[p['k']]:.0f}" if p["k"] in at else "–" for p in parts), each])
        out += [f"## Peak memory {what}, MB, {title(parts[0])}\n", table(rows, ["", *(f"K={p['k']}" for p in parts), "for each more row"])]
    return out
