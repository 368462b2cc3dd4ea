"""Results of runs as tables: those of pcl run, and those of Mammoth and Avalanche to stand beside them.

A table of runs has a line for each run, with the columns that `pcl export csv` writes. `pcl report FILE.csv` reads it again:

    frame = parallelcl.results.load("runs")
    frame = pandas.concat([frame, parallelcl.results.mammoth("logs.pyd", dataset="cifar10", increment="class")])
    frame.to_csv("runs.csv", index=False)

id               the hash of the run's configuration; None marks a foreign row, of another program or written by hand
dataset, increment, method, params, variant
                 increment is "class" or "task"; params is JSON; the variant is what was done besides, such as editing
labelset, timeline, seed
                 where runs of two methods have the same of these, tests compare them as pairs
settings         JSON of other settings in which the runs of this table differ
tasks, steps     how many there were
a_percent        A, the mean accuracy over the tasks at the end
a_first_percent  A_first, the mean accuracy of a task at its own end
f_percent        F = A − A_first; above 0 if tasks got better later
skipped_rows, diverged_at, step_ms, model_sha256
                 rows left out as not finite; the step from which nothing was learnt; mean time of a step; the final network
stored_bytes, statistics_bytes
                 how large the stored samples are at the end, and the sums that a method learns from"""

from __future__ import annotations

import ast
import csv
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from ._library import Error

if TYPE_CHECKING:
    import pandas
    import polars

Frame: TypeAlias = "pandas.DataFrame | polars.DataFrame"

_COLUMNS = (
    "id dataset increment method params variant labelset timeline seed settings tasks steps a_percent f_percent a_first_percent "
    "skipped_rows diverged_at step_ms model_sha256 stored_bytes statistics_bytes"
).split()
_NAMED = ("dataset", "increment", "method", "params", "scenario", "seed")  # settings with columns of their own


def load(path: str | Path, table: Literal["runs", "accuracy"] = "runs", *, library: Literal["pandas", "polars"] | None = None) -> Frame:
    """The runs in a folder and those below it, as a frame of pandas, or of polars where that alone is installed. The table
    "accuracy" has a line for each task at each evaluation: id, method, seed, step, task, accuracy_percent."""
    files = [Path(path)] if Path(path).is_file() else sorted(Path(path).rglob("result.json"))
    runs = list({(run["id"], run["model_sha256"]): run for run in map(_read, files)}.values())
    if not runs:
        raise Error(f"{path} has no result.json, nor has a folder below it; want a folder in which pcl run has finished runs")
    if table == "accuracy":
        return _frame([line for run in runs for line in _accuracies(run)], library)
    settings = [dict(_flat(r["config"])) for r in runs]
    differ = sorted({name for s in settings for name in s if len({json.dumps(other.get(name)) for other in settings}) > 1})
    return _frame([_line(r, {name: s[name] for name in differ if name in s}) for r, s in zip(runs, settings)], library)


def mammoth(path: str | Path, *, dataset: str, increment: Literal["class", "task"], labelset: int = 0, timeline: int = 0, library: Literal["pandas", "polars"] | None = None) -> Frame:
    """The runs in a file logs.pyd of Mammoth, a dict on each line, of which model, seed and accuracy_J_taskI are read: the
    percentage on task J after task I. Rows are foreign; the data set is what ours are called."""
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(Path(path).read_text().splitlines(), 1):
        try:
            run = ast.literal_eval(re.sub(r"np\.\w+\(([^()]*)\)", r"\1", re.sub(r"\b(nan|device\([^()]*\))", "None", text)))
        except (SyntaxError, ValueError) as e:
            raise Error(f"{path}, line {number}: {e}; want a dict, as Mammoth writes to logs.pyd") from None
        found = {(int(m[1]), int(m[2])): float(run[key]) for key in run if (m := re.fullmatch(r"accuracy_(\d+)_task(\d+)", key))}
        lines.append(_foreign(found, f"{path}, line {number}", str(run["model"]), dataset, increment, labelset, timeline, run.get("seed") or 0))
    return _frame(lines, library)


def avalanche(
    path: str | Path, *, method: str, dataset: str, increment: Literal["class", "task"], seed: int = 0, labelset: int = 0, timeline: int = 0,
    library: Literal["pandas", "polars"] | None = None,
) -> Frame:
    """The run in a file eval_results.csv of Avalanche's CSVLogger, of which eval_exp, training_exp and eval_accuracy are read:
    the share of right answers in an experience after training on another, both counted from 0. The row is foreign."""
    with open(path, newline="") as file:
        try:
            found = {(int(r["eval_exp"]) + 1, int(r["training_exp"]) + 1): 100 * float(r["eval_accuracy"]) for r in csv.DictReader(file) if r["training_exp"] != "None"}
        except (KeyError, TypeError, ValueError) as e:
            raise Error(f"{path}: {e!r}; want the columns eval_exp, training_exp and eval_accuracy of Avalanche's CSVLogger") from None
    return _frame([_foreign(found, str(path), method, dataset, increment, labelset, timeline, seed)], library)


def _foreign(found: dict[tuple[int, int], float], where: str, method: str, dataset: str, increment: str, labelset: int, timeline: int, seed: int) -> dict[str, Any]:
    """A row of the accuracies in percent by task, and task after which they were measured."""
    tasks = max((t for t, _ in found), default=0)
    wanted = [(t, t) for t in range(1, tasks + 1)] + [(t, tasks) for t in range(1, tasks + 1)]
    if not tasks or any(w not in found for w in wanted):
        raise Error(f"{where} lacks accuracies; want those of each task after itself and after the last one")
    first, last = (sum(found[w] for w in part) / tasks for part in (wanted[:tasks], wanted[tasks:]))
    about = {"dataset": dataset, "increment": increment, "method": method, "labelset": labelset, "timeline": timeline, "seed": int(seed), "tasks": tasks}
    return dict.fromkeys(_COLUMNS) | about | {"a_percent": last, "f_percent": last - first, "a_first_percent": first}


def _read(file: Path) -> dict[str, Any]:
    try:
        run: dict[str, Any] = json.loads(file.read_text())
    except ValueError as e:
        raise Error(f"{file}: {e}") from None
    if run.get("schema") != 1:
        raise Error(f"{file} has the schema {run.get('schema')!r}; want 1: this version of parallelcl reads no other")
    return run


def _line(run: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    own = {
        "params": json.dumps(run["params"]) if run.get("params") else None, "variant": run.get("variant"), "labelset": run["labelset_seed"],
        "timeline": run["timeline_seed"], "settings": json.dumps(settings) if settings else None, "tasks": len(run["tasks"]), "a_percent": run["A"],
        "f_percent": run["F"], "a_first_percent": run["A_first"], "step_ms": run["measured"].get("step_ms"),
        "stored_bytes": run["measured"].get("stored_bytes", 0), "statistics_bytes": run["measured"].get("statistics_bytes", 0),
    }
    return {name: own[name] if name in own else run.get(name) for name in _COLUMNS}


def _accuracies(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    curve: list[dict[str, Any]] = run["curve"] or []
    for point in curve:
        accuracies: list[float | None] = point["acc"]
        for k, accuracy in enumerate(accuracies):
            if accuracy is not None:
                yield {
                    "id": run["id"], "method": run["method"], "seed": run["seed"], "step": point["step"], "task": k + 1,
                    "accuracy_percent": 100 * accuracy,
                }


def _flat(config: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """The settings by their names, such as memory.budget."""
    for name, value in config.items():
        if before or name not in _NAMED:
            if isinstance(value, dict):
                yield from _flat(cast(dict[str, Any], value), f"{before}{name}.")
            else:
                yield before + name, value


def _frame(lines: list[dict[str, Any]], library: str | None) -> Frame:
    for name in [library] if library else ["pandas", "polars"]:
        try:
            made = importlib.import_module(name)
        except ImportError:
            continue
        return made.DataFrame(lines) if name == "pandas" else made.DataFrame(lines, infer_schema_length=None)
    raise Error(f"{library or 'pandas or polars'} is not installed; want one of them for frames")
