"""The Python code of docs/python.md runs, in its order, and what its diffs lead to. Code whose libraries are missing is left out."""

import os
import pathlib
import re
import shutil
import tempfile
import unittest

import numpy as np

import parallelcl
from test_loops import missing

ROOT = pathlib.Path(__file__).resolve().parents[3]
GUIDE = ROOT / "docs/python.md"


class Guide(unittest.TestCase):
    def test_one_version(self):
        self.assertEqual((ROOT / "VERSION").read_text(), parallelcl.__version__ + "\n")
        self.assertIn(f"\nversion: {parallelcl.__version__}\n", (ROOT / "CITATION.cff").read_text())

    def test_code(self):
        if os.environ.get("PCL"):
            os.environ["PATH"] = os.path.dirname(os.environ["PCL"]) + os.pathsep + os.environ["PATH"]
        blocks = re.findall(r"^```(python|diff)\n(.*?)^```", GUIDE.read_text(), re.M | re.S)
        self.assertEqual(len(blocks), 14)
        folder, before = tempfile.TemporaryDirectory(), os.getcwd()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, before)
        os.chdir(folder.name)
        names = {"np": np, "parallelcl": parallelcl, "rule": parallelcl.Rule("mgda"), "print": lambda *_: None}
        for kind, code in blocks:
            if kind == "diff":  # what comes of it
                code = re.sub(r"^(?:-.*\n|[+ ])", "", code, flags=re.M)
            libraries = re.findall(r"\b(torch|torchjd|jax)\b(?=[. \n])", code)
            if missing(*libraries) or '["pcl"' in code and not shutil.which("pcl"):
                continue
            with self.subTest(code):
                exec(compile(code, str(GUIDE), "exec"), names)


if __name__ == "__main__":
    unittest.main()
