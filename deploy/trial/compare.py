"""Checks that each cell of the first folder has one result, and that its database equals the second folder's, apart
from what was measured: compare.py FOLDER FOLDER"""

import collections
import glob
import json
import os
import sqlite3
import sys


def records(folder):
    """All whole records of a folder's workers. What has a wrong checksum is pcl's to find."""
    for name in glob.glob(os.path.join(folder, "records", "*.jsonl")):
        with open(name, "rb") as f:
            for line in f:
                try:
                    yield json.loads(line)["record"]
                except ValueError:
                    print(f"{name} has a torn record")


def counts(folder):
    out = collections.Counter()
    for r in records(folder):
        out[r.get("event"), r.get("cell")] += 1
    return out


def tables(folder):
    db = sqlite3.connect(os.path.join(folder, "results.sqlite"))
    names = [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")]
    return {n: sorted(map(repr, db.execute(f'SELECT * FROM "{n}"'))) for n in names if n != "measured"}


def main():
    grid, one = sys.argv[1:]
    events = counts(grid)
    [manifest] = glob.glob(os.path.join(grid, "manifests", "*.json"))
    with open(manifest) as f:
        cells = [c["id"] for c in json.load(f)["cells"]]
    per_event = collections.Counter()
    for (event, _), n in events.items():
        per_event[event] += n
    print("records:", ", ".join(f"{n} {event}" for event, n in sorted(per_event.items(), key=str)))
    print("workers:", len(glob.glob(os.path.join(grid, "records", "*.jsonl"))))
    wrong = [c for c in cells if events["done", c] != 1]
    print(f"{len(cells)} cells, {len(cells) - len(wrong)} made exactly once")
    ours, theirs = tables(grid), tables(one)
    different = [n for n in theirs if ours.get(n) != theirs[n]]
    for n in different:
        print(f"table {n} differs: {len(ours.get(n, []))} rows and {len(theirs[n])}")
        for a, b in zip(ours.get(n, []), theirs[n]):
            if a != b:
                print("  ", a, "\n  ", b)
                break
    print("tables that are equal:", ", ".join(f"{n} ({len(theirs[n])})" for n in theirs if n not in different))
    sys.exit(bool(wrong or different))


main()
