"""Tables of results. Skipped without pandas and polars; the program's part needs $PCL."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from parallelcl import Error, results
from test_loops import missing, needs

MAMMOTH = "{'dataset': 'seq-x', 'model': 'derpp', 'seed': %s, 'lr': 0.1, 'device': device(type='cpu'), 'accmean_task1': 90.0, 'accuracy_1_task1': 90.0, 'accuracy_1_task2': np.float64(70.0), 'accuracy_2_task2': 80.5, 'forgetting': nan}\n"
AVALANCHE = "eval_exp,training_exp,eval_accuracy,eval_loss,forgetting\n0,None,0.1,1,0\n0,0,0.9000,1,0\n1,0,0.1,1,0\n0,1,0.7,1,0.2\n1,1,0.805,1,0\n"


class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    @needs("pandas", "polars")
    def test_load(self):
        for seed, budget in ((1, 20), (2, 40)):
            at = self.dir / "runs" / str(seed)
            at.mkdir(parents=True)
            run = {
                "schema": 1, "id": f"a{seed}", "method": "emgd-gmc", "params": {"tau": 5}, "dataset": "glyphs", "increment": "task", "labelset_seed": 3,
                "timeline_seed": 0, "seed": seed, "config": {"seed": seed, "memory": {"budget": budget}, "epochs": 1}, "steps": 9, "tasks": [{}, {}], "A": 60.5,
                "F": -2.5, "A_first": 63.0, "curve": [{"step": 4, "acc": [0.5, None]}, {"step": 8, "acc": [0.25, 0.75]}], "skipped_rows": 0,
                "model_sha256": "m", "measured": {"step_ms": 2.5},
            }
            (at / "result.json").write_text(json.dumps(run))
        for library in ("pandas", "polars"):
            frame = results.load(self.dir, library=library)
            self.assertEqual(list(frame.columns), results._COLUMNS)
            self.assertEqual(list(frame["a_percent"]), [60.5, 60.5])
            self.assertEqual(list(frame["settings"]), ['{"memory.budget": 20}', '{"memory.budget": 40}'])
            self.assertEqual(list(results.load(self.dir, "accuracy", library=library)["accuracy_percent"]), [50, 25, 75] * 2)
        for want, path in {"has no result.json": self.dir / "none", "has the schema 2": self.dir / "b", "Expecting value": self.dir / "c"}.items():
            path.mkdir()
            if path.name != "none":
                (path / "result.json").write_text('{"schema": 2}' if path.name == "b" else "")
            with self.subTest(want), self.assertRaisesRegex(Error, want):
                results.load(path)

    @needs("pandas")
    def test_foreign(self):
        (self.dir / "logs.pyd").write_text(MAMMOTH % 1 + MAMMOTH % None)
        (self.dir / "eval_results.csv").write_text(AVALANCHE)
        a = results.mammoth(self.dir / "logs.pyd", dataset="glyphs", increment="class")
        b = results.avalanche(self.dir / "eval_results.csv", method="Naive", dataset="glyphs", increment="class", seed=4)
        for frame, name, seeds in ((a, "derpp", [1, 0]), (b, "Naive", [4])):
            self.assertEqual((list(frame["method"]), list(frame["seed"])), ([name] * len(seeds), seeds))
            for column, want in {"a_percent": 75.25, "a_first_percent": 85.25, "f_percent": -10}.items():
                self.assertAlmostEqual(frame[column][0], want)
            self.assertIsNone(frame["id"][0])
        for want, text in {"line 1: .*want a dict": "{'model': x}\n", "lacks accuracies": "{'model': 'er', 'accuracy_2_task2': 1.0}\n"}.items():
            (self.dir / "logs.pyd").write_text(text)
            with self.subTest(want), self.assertRaisesRegex(Error, want):
                results.mammoth(self.dir / "logs.pyd", dataset="glyphs", increment="class")
        (self.dir / "eval_results.csv").write_text("a,b\n1,2\n")
        with self.assertRaisesRegex(Error, "want the columns eval_exp"):
            results.avalanche(self.dir / "eval_results.csv", method="Naive", dataset="glyphs", increment="class")

    @needs("pandas")
    def test_report(self):
        """The program shows a table of ours beside foreign rows."""
        if not os.environ.get("PCL") or missing("pandas"):
            self.skipTest("$PCL names no program")
        import pandas

        pcl = os.environ["PCL"]
        for method in ("sum", "mgda"):
            subprocess.run([pcl, "run", "--dataset", "glyphs", "--tasks", "5", "--epochs", "1", "--method", method, "--out", self.dir / "runs"], check=True, capture_output=True)
        (self.dir / "logs.pyd").write_text(MAMMOTH % 1234)
        frame = results.load(self.dir / "runs")
        exported = subprocess.run([pcl, "export", "csv", self.dir / "runs"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(list(frame.columns), exported.split("\n")[0].split(","))
        both = pandas.concat([frame, results.mammoth(self.dir / "logs.pyd", dataset="glyphs", increment="task")])
        both.to_csv(self.dir / "both.csv", index=False)
        said = subprocess.run([pcl, "report", self.dir / "both.csv", "-o", self.dir / "page.html"], check=True, capture_output=True, text=True).stdout
        self.assertRegex(said, r"derpp \(foreign\) +75\.2")
        self.assertIn("derpp (foreign)", (self.dir / "page.html").read_text())


if __name__ == "__main__":
    unittest.main()
