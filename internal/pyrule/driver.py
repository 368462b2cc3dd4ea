"""Runs a rule for pcl: reads requests, one JSON object a line, and answers each. The first one has the rule's code."""

import json
import math
import os
import signal
import sys
import traceback


def main():
    for name in ("SIGINT", "SIGHUP"):  # a terminal sends these to all its processes; pcl still asks for the state
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the rule prints goes to the standard error
    rule = path = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "source" in request:
                path = request["path"]
                rule, answer = load(path, request["name"], request["source"]), {}
            else:
                answer = answer_to(rule, path, request)
            text = json.dumps(answer, allow_nan=False)
        except BaseException as e:
            text = json.dumps({"error": place(e, path)})
        answers.write(text + "\n")
        answers.flush()


def load(path, name, source):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    names = {"__name__": "rules", "__file__": path}
    exec(compile(source, path, "exec"), names)
    if name not in names:
        raise Refused(f"{path} has no {name}; want a function {name}(gram, losses, ids), or a class of such objects")
    rule = names[name]() if isinstance(names[name], type) else names[name]
    if not callable(rule):
        raise Refused(f"{path}: {name} is a {type(rule).__name__}; want a function, or an object that can be called")
    return rule


def answer_to(rule, path, request):
    if "end" in request:
        if hasattr(rule, "end"):
            rule.end(request["end"])
        return {}
    if "save" in request:
        state = getattr(rule, "state", None)
        if json.loads(json.dumps(state, allow_nan=False)) != state:
            raise Refused(f"{path}: the state {state!r} is changed by JSON; want numbers, texts, lists, and dicts whose keys are texts")
        return {"state": state}
    if "load" in request:
        if request["load"] is not None:
            rule.state = request["load"]
        return {}
    try:
        import numpy
    except ImportError:
        raise Refused(f"{sys.executable} has no NumPy; install it, or name another Python in $PARALLELCL_PYTHON")
    gram, losses, ids = numpy.array(request["gram"]), numpy.array(request["losses"]), request["ids"]
    weights = [float(w) for w in rule(gram, losses, ids)]
    if len(weights) != len(ids) or not all(map(math.isfinite, weights)):
        code = getattr(rule, "__code__", None) or getattr(type(rule).__call__, "__code__", None)
        raise Refused(f"{path}:{code.co_firstlineno if code else 1}: the rule returned {weights}; want {len(ids)} finite weights")
    return {"weights": weights}


class Refused(Exception):
    pass


def place(e, path):
    """The error with the last line of the file that it passed."""
    if isinstance(e, Refused):
        return str(e)
    lines = [frame.lineno for frame in traceback.extract_tb(e.__traceback__) if frame.filename == path]
    if isinstance(e, SyntaxError) and e.filename == path:
        lines = [e.lineno]
    return f"{path}:{lines[-1] if lines else 1}: {type(e).__name__}: {e}"


main()
