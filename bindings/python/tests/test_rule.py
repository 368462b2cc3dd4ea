"""The rules, their states and their errors, with NumPy alone."""

import copy
import dataclasses
import inspect
import json
import multiprocessing
import os
import pickle
import signal
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from unittest import mock

import numpy as np

import parallelcl
from parallelcl import EMGD, EMGDGMC, EMGDGS, EMGDLog, Error, Recommended, Rule

HERE = Path(__file__).resolve().parents[1]
BASE = np.array([[-4.0, 1, 1], [6, 1, 1]])
THREE = np.array([[1.0, 0, 0], [0, 2, 0], [2, 2, 1]])

# The worked examples of docs/method.md §9, which were computed without this library and rounded to six decimals.
ORACLES = [
    ("avggrad", {}, BASE, [0.5, 0.5]),
    ("sum", {}, BASE, [1, 1]),
    ("mgda", {}, BASE, [0.6, 0.4]),
    ("mgda", {}, THREE, [0.8, 0.2, 0]),
    ("upgrad", {}, BASE, [1.111111, 0.789474]),
    ("dualproj", {}, BASE, [0.611111, 0.5]),
    ("config", {}, BASE, [1.226483, 0.844124]),
    ("imtl-g", {}, BASE, [0.592330, 0.407670]),
    ("aligned-mtl", {}, BASE, [0.559072, 0.408261]),
    ("cagrad", {}, BASE, [0.704124, 0.5]),
    ("nash-mtl", {"max_norm": float("inf")}, BASE, [0.591461, 0.407071]),
    ("fairgrad", {"alpha": 2}, BASE, [0.471363, 0.319454]),
    ("pcgrad", {}, BASE, [2.222222, 1.578947]),
    ("emgd-gmc", {"tau": float("inf")}, BASE, [1.2, 0.8]),
    ("emgd-gmc", {}, BASE, [1.227128, 0.845351]),
    ("emgd-gmc", {"tau": 1}, BASE, [1.251119, 0.963249]),
    ("emgd-gmc", {}, THREE, [2.704549, 0.825836, 0]),
    ("emgd-gmc", {"floor": "release"}, THREE, [2.519486, 0.672002, 0.25]),
    ("emgd-gs", {"tau": 1}, THREE, [3.158187, 0.789547, 0]),
]


class Oracles(unittest.TestCase):
    def test_weights(self):
        for name, params, jacobian, want in ORACLES:
            with self.subTest(rule=name, params=params):
                for given in ({"gram": jacobian @ jacobian.T}, {"jacobian": jacobian}, {"jacobian": jacobian.astype(np.float32)}):
                    np.testing.assert_allclose(Rule(name, **params).weights(**given), want, atol=2e-6)
                np.testing.assert_allclose(Rule(name, **params).direction(jacobian), want @ jacobian, atol=2e-5)

    def test_given_factors(self):
        rule = EMGD()
        np.testing.assert_allclose(rule.weights(BASE @ BASE.T, sigma=[0.25, 0.75]), [1.253012, 0.915663], atol=1e-6)
        np.testing.assert_allclose(rule.weights(jacobian=BASE, sigma=(1, 0)), [1, 0.578947], atol=1e-6)

    def test_certificate(self):
        rule = EMGD("gmc", tau=5)
        self.assertIsNone(rule.last)
        rule.weights(BASE @ BASE.T)
        answer = rule.last
        rule.weights(np.eye(2))  # the answer is a copy
        c = answer.certificate
        np.testing.assert_allclose(answer.weights, [1.227128, 0.845351], atol=1e-6)
        np.testing.assert_allclose(c.sigma, [0.405077, 0.594923], atol=1e-6)
        np.testing.assert_allclose(c.slacks, 0, atol=1e-12)
        self.assertEqual((c.status, c.active, c.exponent, answer.left_out), ("optimal", [0, 1], 0, []))
        self.assertIn("decreases every loss", c.message)
        self.assertIn("optimal", repr(answer))
        self.assertIsNone(self.answer("upgrad").certificate)
        for copied in (copy.deepcopy(answer).certificate, pickle.loads(pickle.dumps(c))):
            np.testing.assert_array_equal(copied.sigma, c.sigma)
            self.assertEqual((copied.status, copied.gap, copied.message), (c.status, c.gap, c.message))

    def test_certificate_explains_its_fields(self):
        for field in dataclasses.fields(parallelcl.Certificate):
            self.assertRegex(parallelcl.Certificate.__doc__, rf"\n    {field.name}  +\S")

    def test_check(self):
        self.assertEqual(parallelcl.check(BASE).status, "optimal")
        self.assertEqual(parallelcl.check(np.array([[1.0, 0], [-1, 0]])).status, "stationary")
        for want, jacobian in {
            "2 dimensions, one row for each task": BASE[0],
            "want floats": BASE.astype(int),
            "200 rows of 3; want one row for each task": np.ones((200, 3)),
            "row 2, entry 1 is NaN": [[1.0, 2], [float("nan"), 1]],
            "rows have different lengths": [[1.0, 2], [1.0]],
            "it is empty": np.zeros((2, 0)),
            "certificate fails: .*guarantees nothing to the rows left out": [[1.0, 0], [-1e-200, 0]],
        }.items():
            with self.subTest(want), self.assertRaisesRegex(Error, want):
                parallelcl.check(jacobian)

    def answer(self, name):
        rule = Rule(name)
        rule.weights(BASE @ BASE.T)
        return rule.last

    def test_rows_left_out(self):
        rule = Rule("mgda")
        np.testing.assert_allclose(rule.weights(jacobian=np.vstack([BASE, np.zeros(3)]), ids=[0, 9, 4]), [0.6, 0.4, 0])
        self.assertEqual((rule.last.left_out, rule.last.certificate.dropped), ([2], [2]))
        self.assertTrue(rule.last.certificate.message.endswith("; left out, as zero next to the longest gradient: row 2 (counted from 0)"))
        rule.weights(jacobian=np.vstack([np.zeros(3), BASE, np.zeros(3)]))
        self.assertTrue(rule.last.certificate.message.endswith("longest gradient: rows 0 3 (counted from 0)"))

    def test_rows_that_a_composition_joins(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rule = Rule("emgd-gmc+der-pp")
        rule.weights(jacobian=THREE, losses=[1, 2, 3], ids=[0, -1, 1])
        c = rule.last.certificate
        self.assertEqual((len(c.sigma), c.sigma[0], c.slacks[0]), (3, c.sigma[1], c.slacks[1]))

    def test_direction_is_the_callers(self):
        rule = Rule("mgda")
        d = rule.direction(BASE)
        d[:] = 7
        self.assertFalse(hasattr(rule.last, "direction"))
        np.testing.assert_allclose(rule.last.weights, [0.6, 0.4], atol=1e-6)
        self.assertTrue(d.flags.owndata)

    def test_rules_on_the_rows(self):
        rule = Rule("graddrop", seed=3)
        d = rule.direction(BASE)
        self.assertEqual(d.shape, (3,))
        np.testing.assert_allclose(d[1:], [2, 2])  # without conflict the entries are added up
        with self.assertRaisesRegex(Error, "needs the \"jacobian\""):
            rule.weights(BASE @ BASE.T)

    def test_losses(self):
        np.testing.assert_allclose(Rule("gls").weights(BASE @ BASE.T, losses=[4, 1]), [0.25, 1])
        famo, same = Rule("famo"), Rule("famo")
        first = famo.weights(BASE @ BASE.T, losses=[1, 2])
        same.weights(BASE @ BASE.T, losses=[1, 2])
        famo.follow([0.5, 1.9])
        self.assertLess(famo.weights(BASE @ BASE.T, losses=[1, 2])[0], first[0])
        np.testing.assert_array_equal(same.weights(BASE @ BASE.T, losses=[1, 2]), first)

    @unittest.skipUnless(os.environ.get("PCL"), "PCL does not name the program pcl")
    def test_command_line_gives_the_same_bits(self):
        generator = np.random.default_rng(5)
        problems = [generator.normal(size=(k, 30)) + 0.2 for k in (2, 5, 3, 5, 8)]
        losses = [generator.uniform(0.1, 3, size=len(j)) for j in problems]
        lines = "\n".join(json.dumps({"jacobian": j.tolist(), "losses": l.tolist()}) for j, l in zip(problems, losses))
        for name in parallelcl.methods():
            with self.subTest(rule=name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                done = subprocess.run([os.environ["PCL"], "weigh", "--method", name, "--seed", "7"], input=lines, capture_output=True, text=True, check=True)
                rule = Rule(name, seed=7)
                for j, l, line in zip(problems, losses, done.stdout.splitlines()):
                    want = json.loads(line)
                    np.testing.assert_array_equal(rule.direction(j, l), want["direction"])
                    np.testing.assert_array_equal(rule.last.weights, want["weights"])
                    if want["certificate"]:
                        np.testing.assert_array_equal(rule.last.certificate.sigma, want["certificate"]["sigma"])
                        self.assertEqual(rule.last.certificate.status, want["certificate"]["status"])


class States(unittest.TestCase):
    def test_goes_on_with_the_same_bits(self):
        for name in ["emgd-gmc", "emgd-log", "dwa", "rlw", "gradvac", "moco", "famo"]:
            rule = Rule(name)
            rule.direction(BASE, [1, 2])
            state = rule.state()
            self.assertIsInstance(state, bytes)
            others = [Rule(name), copy.deepcopy(rule), pickle.loads(pickle.dumps(rule))]
            others[0].set_state(state)
            want = rule.direction(BASE[::-1], [2, 1])
            for other in others:
                np.testing.assert_array_equal(other.direction(BASE[::-1], [2, 1]), want)

    def test_end(self):
        rule = EMGD()
        rule.weights(BASE @ BASE.T, ids=[3, 8])
        rule.end(3)
        self.assertEqual(list(json.loads(rule.state())["state"]["norms"]), ["8"])

    def test_refused(self):
        rule = EMGD(tau=1)
        for state, want in [(b"", "no JSON"), (Rule("dwa").state(), "not of emgd-gmc"), (EMGD().state(), "settings it was saved with")]:
            with self.assertRaisesRegex(Error, want):
                rule.set_state(state)
        for state in ("{}", 5, None, ["a"]):
            with self.assertRaisesRegex(Error, f"a state is bytes, as state.. returns them, not {type(state).__name__}"):
                rule.set_state(state)

    def test_state_in_other_memory(self):
        rule = EMGD()
        rule.weights(BASE @ BASE.T)
        state, other = rule.state(), EMGD()
        state += b" " * (-len(state) % 8)  # which JSON allows
        other.set_state(np.frombuffer(state, np.int64))
        self.assertEqual(other.state(), rule.state())


class Library(unittest.TestCase):
    """How the library is found and what is built."""

    def load(self, path, folder):
        env = {**os.environ, "PARALLELCL_LIBRARY": path, "PYTHONPATH": os.pathsep.join(sys.path)}
        code = "import parallelcl; print(parallelcl.EMGD())"
        return subprocess.run([sys.executable, "-c", code], env=env, cwd=folder, capture_output=True, text=True)

    def test_path(self):
        library = Path(parallelcl._library._path())
        done = self.load(library.name, library.parent)  # a bare name is that of a file here
        self.assertEqual(done.stdout.strip(), "EMGD(kind='gmc')", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("ImportError: parallelcl: the library", self.load(library.name, folder).stderr)
            (Path(folder) / "libother.so").write_text("no library")
            self.assertRegex(self.load("libother.so", folder).stderr, "ImportError: parallelcl: the library .*libother.so cannot be loaded")

    def test_setup(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(HERE / "setup.py", folder)
            source = Path(folder) / "src/parallelcl"
            source.mkdir(parents=True)
            setup = lambda **env: subprocess.run([sys.executable, "setup.py"], cwd=folder, env={**os.environ, **env}, capture_output=True, text=True).stderr
            self.assertIn("run bash bindings/python/build DIR", setup())
            (source / "libparallelcl.so").touch()
            self.assertIn("the library is for plan9/amd64", setup(GOOS="plan9", GOARCH="amd64"))
            self.assertIn("the library is for linux/amd64", setup(GOOS="linux", GOARCH="amd64", _PYTHON_HOST_PLATFORM="linux-aarch64"))
            self.assertNotIn("the library is for", setup(GOOS="darwin", GOARCH="arm64", _PYTHON_HOST_PLATFORM="macosx-11.0-universal2"))

    def test_licences(self):
        try:
            files = metadata.files("parallelcl")
        except metadata.PackageNotFoundError:
            self.skipTest("the package was not installed from a wheel")
        texts = {f.name: f.read_text() for f in files if f.name in ("LICENSE", "THIRD_PARTY_LICENSES")}
        self.assertIn("Apache License", texts["LICENSE"])
        for part in ("go1.", "gonum.org/v1/gonum", "The Go Authors", "The Gonum Authors"):
            self.assertIn(part, texts["THIRD_PARTY_LICENSES"])


class Errors(unittest.TestCase):
    def test_bad_input_changes_nothing(self):
        rule, nan = EMGD(), float("nan")
        rule.weights(BASE @ BASE.T)
        before = rule.state()
        for want, arguments in {
            "give either gram or jacobian": {},
            "either gram or jacobian": {"gram": BASE @ BASE.T, "jacobian": BASE},
            r"gram has the shape \(2, 3\); want a square": {"gram": BASE},
            r"gram has the shape \(2,\)": {"gram": [1, 2]},
            "gram row 1, entry 2 is NaN": {"gram": [[1, nan], [nan, 1]]},
            "gram row 2, entry 2 is -1": {"gram": [[1, 0], [0, -1]]},
            "not symmetric: row 2, entry 1 is 0.5": {"gram": [[1, 0], [0.5, 1]]},
            "gram: the rows have different lengths": {"gram": [[1], [1, 2]]},
            "gram: want numbers, not <U1": {"gram": [["a"]]},
            "gram: want numbers, not complex128": {"gram": [[1j]]},
            "there are no gradients": {"gram": np.zeros((0, 0))},
            r"jacobian has the shape \(2, 0\)": {"jacobian": np.zeros((2, 0))},
            "jacobian row 2, entry 3 is [+]Inf": {"jacobian": [[1, 2, 3], [4, 5, float("inf")]]},
            "1 losses for 2 gradients": {"gram": np.eye(2), "losses": [1]},
            "entry 2 of the losses is NaN": {"gram": np.eye(2), "losses": [1, nan]},
            "losses: want numbers, not <U1": {"gram": np.eye(2), "losses": ["a", "b"]},
            "losses has the shape": {"gram": np.eye(2), "losses": 3.0},
            "one of the ids: want a whole number, not 1.5": {"gram": np.eye(2), "ids": [1.5, 2]},
            "ids are whole numbers, not float64": {"gram": np.eye(2), "ids": np.array([1.5, 2])},
            "stream id 3 is given twice": {"gram": np.eye(2), "ids": [3, 3]},
            "one of the ids is 9223372036854775808": {"gram": np.eye(2), "ids": [1, 2**63]},
            r"gram has the shape \(20000, 2\); want a square": {"gram": np.zeros((20000, 2))},
            r"gram has the shape \(\)": {"gram": np.array(1.0)},
            "20000 gradients; want at most 16384": {"jacobian": np.zeros((20000, 1))},
            "gram is a masked array": {"gram": np.ma.masked_invalid(np.eye(2))},
            "every entry of sigma is 0": {"gram": np.eye(2), "sigma": [0, 0]},
        }.items():
            with self.subTest(want), self.assertRaisesRegex(Error, want):
                rule.weights(**arguments)
            self.assertEqual(rule.state(), before)
            self.assertIsNone(rule.last)
        rule.weights(np.eye(2))  # what was given to a refused call is forgotten

    def test_making(self):
        for want, make in {
            "unknown method": lambda: Rule("nonesuch"),
            'has no parameter "x"': lambda: Rule("mgda", x=1),
            "want a number, a text or a truth value": lambda: Rule("mgda", norm=[1]),
            'want "gmc", "gs" or "log"': lambda: EMGD("gsm"),
            "factors is now kind": lambda: EMGD(factors="gmc"),
            "now given as sigma": lambda: EMGD().weights(np.eye(2), factors=[1, 1]),
            "are now given as sigma": lambda: EMGD().direction(BASE, factors=[1, 1]),
            "upgrad has no certificate": lambda: Rule("upgrad").certificate,
            "is not a temperature": lambda: EMGD(tau=-1),
            "without NUL": lambda: Rule("mgda\0x"),
            "want a text": lambda: Rule(5),
            "not valid Unicode": lambda: Rule("\ud800"),
            "seed is -1; want 0 to 18446744073709551615": lambda: Rule("mgda", seed=-1),
            "seed is 18446744073709551616": lambda: Rule("mgda", seed=2**64),
            "seed: want a whole number, not 1.5": lambda: Rule("mgda", seed=1.5),
            "id: want a whole number, not 1.5": lambda: EMGD().end(1.5),
            "id is 9223372036854775808": lambda: EMGD().end(2**63),
            "one of the ids is 9223372036854775808": lambda: Rule("dwa").follow([1.0], ids=np.array([2**63], np.uint64)),
            'needs "losses"': lambda: Rule("dwa").weights(np.eye(2)),
        }.items():
            with self.subTest(want), self.assertRaisesRegex(Error, want):
                make()

    def test_mistakes_of_the_library(self):
        """Functions that return no code say by their text that the library is at fault."""

        def broken(*arguments):
            arguments[-2].value = b"internal error, which is a mistake in parallelcl: index out of range"

        rule = EMGD()
        for name, call in {"pcl_open": EMGD, "pcl_info": lambda: parallelcl.info("mgda"), "pcl_state": rule.state}.items():
            with mock.patch.object(parallelcl._library.library, name, broken), self.assertRaisesRegex(parallelcl.InternalError, "index out of range"):
                call()

    def test_numbers_of_other_libraries(self):
        gram, want = BASE @ BASE.T, EMGD(tau=2.0).weights(BASE @ BASE.T)
        for tau in (np.float32(2), np.int64(2), Fraction(2), "2"):
            np.testing.assert_array_equal(EMGD(tau=tau, seed=np.uint64(2**64 - 1)).weights(gram), want)

    def test_what_is_left_out_is_said(self):
        with self.assertWarnsRegex(UserWarning, "der-pp also has its own loss"):
            Rule("der-pp")

    def test_threads(self):
        rule, wrong = Rule("mgda"), []
        problems = [(BASE @ BASE.T, [0.6, 0.4]), (np.diag([1.0, 4]), [0.8, 0.2]), (THREE @ THREE.T, [0.8, 0.2, 0])]

        def work(gram, want):
            for _ in range(2000):
                if not np.allclose(rule.weights(gram), want, atol=1e-6):
                    wrong.append(want)

        threads = [threading.Thread(target=work, args=p) for p in problems * 2]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_long_calls_let_other_threads_run(self):
        jacobian = np.random.default_rng(0).normal(size=(200, 300)) + 0.1
        gram, ticks, done = jacobian @ jacobian.T, [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)

        for arguments in ({}, {"ids": range(200)}):
            rule, within = Rule("upgrad"), 0  # which takes half a second
            thread = threading.Thread(target=tick)
            thread.start()
            for _ in range(20):  # a busy machine may leave the other thread no time in one call
                start = time.monotonic()
                rule.weights(gram, **arguments)
                end = time.monotonic()
                within = max(within, sum(start < t < end for t in ticks))
                if within > 10:
                    break
            done.set()
            thread.join()
            self.assertGreater(within, 10)
            done.clear()

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_after_a_fork(self):
        rule = EMGD()
        rule.weights(BASE @ BASE.T)
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of forking a process with threads
            child = os.fork()
        if child == 0:
            try:
                rule.weights(BASE @ BASE.T)
            except RuntimeError as e:
                os.write(writer, str(e).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        os.close(writer)
        self.assertIn("forked", os.read(reader, 1000).decode())
        os.close(reader)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_forked_while_another_thread_weighs(self):
        calls = {
            "weights": lambda rule: rule.weights(BASE @ BASE.T), "losses": lambda rule: rule.weights(BASE @ BASE.T, [1, 2]),
            "direction": lambda rule: rule.direction(BASE), "last": lambda rule: rule.last,
        }
        for name, call in calls.items():
            rule = EMGD()
            with self.subTest(name), rule._lock, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                child = os.fork()
                if child == 0:
                    signal.alarm(20)  # the lock is never given back
                    code = 1
                    try:
                        call(rule)
                    except RuntimeError:
                        code = 0
                    finally:
                        os._exit(code)
                self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_interrupt_before_a_call(self):
        """Wherever Ctrl-C meets the preparation of a call, the next one is answered as if there had been no other."""
        rule = EMGD()
        want = rule.weights(np.eye(2))
        places = []
        for function in (EMGD._from_jacobian, EMGD._with_options):
            lines, first = inspect.getsourcelines(function)
            places += [(function.__code__, first + i) for i, text in enumerate(lines) if text.strip().startswith("call.")]
        self.assertGreater(len(places), 5)
        before = sys.gettrace()
        self.addCleanup(sys.settrace, before)
        for place in places:

            def interrupt(frame, event, _):
                if event == "line" and (frame.f_code, frame.f_lineno) == place:
                    sys.settrace(before)
                    raise KeyboardInterrupt
                return interrupt

            for call in (lambda: rule.direction(np.eye(2), sigma=[0.1, 0.9]), lambda: rule.weights(np.eye(2), sigma=[0.1, 0.9])):
                sys.settrace(interrupt)
                try:
                    call()
                except KeyboardInterrupt:
                    pass
                sys.settrace(before)
                np.testing.assert_array_equal(rule.weights(np.eye(2)), want)

    def test_spawned_processes(self):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            np.testing.assert_array_equal(pool.apply(weigh, (EMGD(),)), weigh(EMGD()))

    def test_interrupt(self):
        # A process that a script started in the background ignores SIGINT, and Python then installs no handler.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        rule = EMGD()
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            end = time.monotonic() + 10
            while time.monotonic() < end:
                rule.weights(BASE @ BASE.T)


def weigh(rule):
    return rule.weights(BASE @ BASE.T)


class Descriptions(unittest.TestCase):
    def test_info(self):
        self.assertIn("upgrad", parallelcl.methods())
        about = parallelcl.info("emgd-gmc")
        self.assertEqual([p["name"] for p in about["params"]], ["tau", "momentum", "floor", "rescale"])
        self.assertFalse(about["needs_rows"] or about["needs_losses"] or about["follows"])
        self.assertTrue(parallelcl.info("mgda", norm="loss")["needs_losses"])
        self.assertEqual(repr(EMGD(tau=5)), "EMGD(kind='gmc', tau=5)")

    def test_names(self):
        for rule, alias in ((EMGDGMC(5, momentum=0), EMGD("gmc", 5, momentum=0)), (EMGDGS(tau=2), EMGD("gs", 2)), (EMGDLog(floor=0.1), EMGD("log", floor=0.1))):
            self.assertEqual((rule.name, rule.params), (alias.name, alias.params))
            np.testing.assert_array_equal(rule.weights(BASE @ BASE.T), alias.weights(BASE @ BASE.T))
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(rule)).weights(np.eye(2)), rule.weights(np.eye(2)))
        self.assertEqual(repr(EMGDGMC(5)), "EMGDGMC(tau=5)")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what it leaves out
            self.assertEqual(Recommended(alpha=0.5).name, "emgd")
            np.testing.assert_array_equal(Recommended().weights(BASE @ BASE.T), EMGDLog(1.5, momentum=0).weights(BASE @ BASE.T))


if __name__ == "__main__":
    unittest.main()
