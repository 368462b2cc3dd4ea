"""Checks that the first folder has each run of the second, and with the same result: compare.py FOLDER FOLDER"""

import collections
import glob
import json
import os
import sys


def results(folder):
    """The results of a folder's runs, apart from what was measured."""
    out = {}
    for name in glob.glob(os.path.join(folder, "*", "result.json")):
        with open(name, "rb") as f:
            run = json.load(f)
        out[os.path.basename(os.path.dirname(name))] = run
    return out


def main():
    ours, theirs = map(results, sys.argv[1:])
    wrong = []
    resumed = collections.Counter()
    for name, want in theirs.items():
        got = ours.get(name)
        if got is not None:
            resumed[got.pop("measured").get("resumed", 0)] += 1
        want.pop("measured")
        if got != want:
            wrong.append(name)
    print(f"{len(theirs)} runs, {len(theirs) - len(wrong)} with the same result, {len(set(ours) - set(theirs))} too many")
    print("continued:", ", ".join(f"{n} runs {k} times" for k, n in sorted(resumed.items())))
    for name in wrong[:5]:
        print("missing or different:", name)
    sys.exit(bool(wrong or set(ours) - set(theirs)))


main()
