"""The Python code of docs/python.md and docs/weigh.md runs, in its order, and what its diffs lead to. Code whose libraries are missing is left out."""

import os
import pathlib
import re
import shutil
import tempfile
import unittest

import parallelcl
from test_loops import missing

ROOT = pathlib.Path(__file__).resolve().parents[3]
GUIDES = {"docs/python.md": 12, "docs/weigh.md": 1}  # and how many blocks of code each has


class Guide(unittest.TestCase):
    def test_one_version(self):
        self.assertEqual((ROOT / "VERSION").read_text(), parallelcl.__version__ + "\n")
        self.assertIn(f"\nversion: {parallelcl.__version__}\n", (ROOT / "CITATION.cff").read_text())

    def test_code(self):
        if os.environ.get("PCL"):
            os.environ["PATH"] = os.path.dirname(os.environ["PCL"]) + os.pathsep + os.environ["PATH"]
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        for guide, many in GUIDES.items():
            text = (ROOT / guide).read_text()
            blocks = re.findall(r"^```(python|diff)\n(.*?)^```", text, re.M | re.S)
            self.assertEqual(len(blocks), many, guide)
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            os.chdir(folder.name)
            names = {"print": lambda *_: None}
            for kind, code in blocks:
                if kind == "diff":  # what comes of it
                    code = re.sub(r"^(?:-.*\n|[+ ])", "", code, flags=re.M)
                libraries = re.findall(r"\b(torch|torchjd|jax)\b(?=[. \n])", code)
                if missing(*libraries) or '["pcl"' in code and not shutil.which("pcl"):
                    continue
                with self.subTest(code):
                    exec(compile(code, guide, "exec"), names)

    def test_length(self):
        self.assertLessEqual(len((ROOT / "docs/python.md").read_text().splitlines()), 250)


if __name__ == "__main__":
    unittest.main()
