"""Loops of NumPy, PyTorch, JAX and TorchJD. A test is skipped where its library is not installed, unless $EXTRAS names it."""

import importlib.util
import json
import os
import pathlib
import sys
import unittest

import numpy as np

from parallelcl import EMGD, Error, Rule

ROOT = pathlib.Path(__file__).resolve().parents[3]
BASE = np.array([[-4.0, 1, 1], [6, 1, 1]])


def missing(*names):
    """The libraries that a test may do without."""
    return [n for n in names if importlib.util.find_spec(n) is None and n not in os.environ.get("EXTRAS", "").split()]


def needs(*names):
    return unittest.skipIf(missing(*names), f"not installed: {', '.join(missing(*names))}")


class Curve(unittest.TestCase):
    """The descent of Go's package toy, from the same starting point with the same steps of plain gradient descent in
    float64: the losses agree to 1e-9, of about 2 to 5."""

    def check(self, curve):
        want = json.loads((ROOT / "toy/testdata/curve.json").read_text())
        self.assertEqual(len(curve), 1501)
        np.testing.assert_allclose(curve[:-1 : want["every"]] + curve[-1:], want["losses"], rtol=0, atol=1e-9)

    def test_numpy(self):
        rule, theta, curve = EMGD("gmc", tau=5), np.array([3.0, 3.0]), []
        for step in range(1500):
            losses, jacobian = functions(*theta)
            curve.append(losses)
            weights = [1, 0] if step < 500 else rule.weights(jacobian @ jacobian.T)
            theta -= 2e-5 * (weights @ jacobian)
        self.check(curve + [functions(*theta)[0]])

    @needs("torch")
    def test_pytorch(self):
        self.check(example("pytorch_emgd").descend(EMGD("gmc", tau=5)))

    @needs("jax")
    def test_jax(self):
        self.check(example("jax_emgd").descend(EMGD("gmc", tau=5)))


def example(name):
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def functions(x, y):
    """The two functions and their gradients."""
    a, b = 1 - np.exp(x) * np.sin(y), 0.1 + np.exp(y) * np.cos(x)
    losses = [np.log(1 + x * x) + 0.8 * a * a, np.log(1 + y * y) + 0.004 * b * b]
    return losses, np.array([
        [2 * x / (1 + x * x) - 1.6 * a * np.exp(x) * np.sin(y), -1.6 * a * np.exp(x) * np.cos(y)],
        [-0.008 * b * np.exp(y) * np.sin(x), 2 * y / (1 + y * y) + 0.008 * b * np.exp(y) * np.cos(x)],
    ])


class PyTorch(unittest.TestCase):
    @needs("torch")
    def test_tensors(self):
        import torch

        rule = Rule("upgrad")
        for dtype in (torch.float64, torch.float32, torch.bfloat16):
            j = torch.tensor(BASE, dtype=dtype, requires_grad=True)
            np.testing.assert_allclose(rule.weights(j @ j.T), [1.111111, 0.789474], atol=1e-6)
            np.testing.assert_allclose(rule.direction(j), [0.292398, 1.900585, 1.900585], atol=1e-6)

    @needs("torch")
    def test_types_of_tensors(self):
        import torch

        famo, gram = Rule("famo"), BASE @ BASE.T
        want = Rule("famo").weights(gram, losses=[1, 2], ids=[3, 8])
        for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int32):
            losses = [torch.tensor(x, dtype=dtype, requires_grad=dtype.is_floating_point) for x in (1, 2)]
            for given in (losses, torch.stack(losses)):
                for ids in (torch.tensor([3, 8]), torch.tensor([3, 8], dtype=torch.int32), list(torch.tensor([3, 8]))):
                    np.testing.assert_array_equal(Rule("famo").weights(gram, losses=given, ids=ids), want)
        j = torch.tensor(BASE, requires_grad=True)
        np.testing.assert_allclose(Rule("upgrad").direction(list(j)), [0.292398, 1.900585, 1.900585], atol=1e-6)
        np.testing.assert_array_equal(famo.weights(torch.tensor(gram).int(), losses=[1, 2], ids=[3, 8]), want)
        for refused in (torch.tensor(gram) + 0j, (torch.tensor(gram) + 1j).conj()):
            with self.assertRaisesRegex(Error, "gram: want numbers, not complex128"):
                famo.weights(refused, losses=[1, 2])
        with self.assertRaisesRegex(Error, "ids are whole numbers, not float32"):
            famo.weights(gram, losses=[1, 2], ids=torch.tensor([3.0, 8]))

    @needs("torch")
    def test_backward(self):
        import torch

        import parallelcl.torch

        for name in ("upgrad", "mgda", "graddrop"):
            net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()
            x = torch.randn(10, 3, dtype=torch.float64)
            losses = [(net(x)[:, 0] ** 2).mean(), net(x)[:, 1].exp().mean()]  # each has an output of its own
            parameters = list(net.parameters())
            rows = [torch.cat([g.reshape(-1) for g in torch.autograd.grad(l, parameters, retain_graph=True)]) for l in losses]
            want = Rule(name).direction(torch.stack(rows))
            for times in (1, 2):  # it adds to what is there
                weights = parallelcl.torch.backward(losses, parameters, Rule(name), retain_graph=times == 1)
                got = torch.cat([p.grad.reshape(-1) for p in parameters])
                np.testing.assert_allclose(got, times * want, atol=1e-12)
            self.assertEqual(weights.shape, (2,))

    @needs("torch")
    def test_backward_of_types_ids_and_losses(self):
        import torch

        import parallelcl.torch

        for dtypes in ((torch.float32, torch.float32), (torch.bfloat16, torch.bfloat16), (torch.float32, torch.float64)):
            for name in ("emgd-gmc", "gls", "graddrop"):
                rule, same = Rule(name), Rule(name)
                a, b = (torch.tensor([2.0, 3], dtype=d, requires_grad=True) for d in dtypes)
                a.grad = before = torch.ones_like(a)
                losses = [(a * a).sum() + b.sum(), (b * b).sum() / 2]  # of the values 18 and 6.5
                weights = parallelcl.torch.backward(losses, [a, b], rule, ids=[0, 7])
                jacobian = np.array([[4.0, 6, 1, 1], [0, 0, 2, 3]])
                d = same.direction(jacobian, [18, 6.5], ids=[0, 7])
                with self.subTest(name, dtypes=dtypes):
                    near = dict(rtol=0.02 if dtypes[0] is torch.bfloat16 else 1e-6)
                    np.testing.assert_allclose(weights, same.last.weights, rtol=1e-12)
                    np.testing.assert_allclose(a.grad.double() - 1, d[:2], **near)
                    np.testing.assert_allclose(b.grad.double(), d[2:], **near)
                    self.assertIs(a.grad, before)
                    self.assertEqual((a.grad.dtype, b.grad.dtype), dtypes)
                    self.assertEqual(rule.state(), same.state())

    @needs("torch")
    def test_apples_gpus(self):
        """They have no float64; and parameters may be on several devices."""
        import torch

        import parallelcl.torch

        class Apple(torch.Tensor):
            device = property(lambda self: torch.device("mps"))

            def double(self):
                raise TypeError("Cannot convert a MPS Tensor to float64 dtype")

            def cpu(self):
                return self.as_subclass(torch.Tensor)

        rows = [[torch.tensor(row[:1], dtype=torch.float32).as_subclass(Apple), torch.tensor(row[1:])] for row in BASE]
        gram = parallelcl.torch.gram(rows)
        self.assertIs(type(gram), torch.Tensor)
        np.testing.assert_array_equal(gram, BASE @ BASE.T)


class TorchJD(unittest.TestCase):
    @needs("torch", "torchjd")
    def test_weighting(self):
        import torch
        from torchjd import aggregation

        from parallelcl.torchjd import Aggregator, Weighting

        j = torch.tensor(BASE, dtype=torch.float32)
        w = Weighting("mgda")
        self.assertIsInstance(w, aggregation.Weighting)
        torch.testing.assert_close(w(j @ j.T), aggregation.MGDAWeighting()(j @ j.T), atol=1e-3, rtol=0)
        torch.testing.assert_close(aggregation.GramianWeightedAggregator(w)(j), Aggregator("mgda")(j))
        torch.testing.assert_close(Aggregator("graddrop")(j)[1:], torch.tensor([2.0, 2.0]))
        for refused in (lambda: Weighting("dwa"), lambda: Weighting("graddrop"), lambda: Weighting(EMGD(), tau=1)):
            self.assertRaises(Error, refused)

    @needs("torch", "torchjd")
    def test_state(self):
        import torch

        from parallelcl.torchjd import Weighting

        gram = torch.tensor(BASE @ BASE.T)
        a, b = Weighting(EMGD()), Weighting(EMGD())
        first = a(gram)
        b.load_state_dict(a.state_dict())
        torch.testing.assert_close(a(gram / 4), b(gram / 4), atol=0, rtol=0)
        a.reset()
        torch.testing.assert_close(a(gram), first, atol=0, rtol=0)
        used = EMGD()
        used.weights(BASE @ BASE.T / 4)
        c = Weighting(used)
        c.reset()
        torch.testing.assert_close(c(gram), first, atol=0, rtol=0)

    @needs("torch", "torchjd")
    def test_jac_to_grad(self):
        import torch
        from torchjd.aggregation import GramianWeightedAggregator
        from torchjd.autojac import backward, jac_to_grad

        from parallelcl.torchjd import Weighting

        p = torch.tensor([1.0, 2], requires_grad=True)
        backward([torch.tensor([-1.0, 1]) @ p, (p**2).sum()])
        weights = jac_to_grad([p], GramianWeightedAggregator(Weighting("upgrad")))
        torch.testing.assert_close(weights, torch.tensor([0.5, 0.5]))
        torch.testing.assert_close(p.grad, torch.tensor([0.5, 2.5]))


class JAX(unittest.TestCase):
    @needs("jax")
    def test_arrays_and_compiled_functions(self):
        import jax
        import jax.numpy as jnp

        import parallelcl.jax

        j = jnp.asarray(BASE, jnp.float32)
        np.testing.assert_allclose(Rule("upgrad").weights(j @ j.T), [1.111111, 0.789474], atol=1e-6)
        rule, plain = EMGD(), EMGD()
        weights = jax.jit(lambda gram: parallelcl.jax.weights(rule, gram))
        for scale in (1, 2, 3):  # the moving averages go on
            np.testing.assert_allclose(weights(j @ j.T * scale), plain.weights(BASE @ BASE.T * scale), rtol=1e-5)
        trees = [{"a": row[:1], "b": (row[1:],)} for row in j]
        d = jax.jit(lambda: parallelcl.jax.direction(Rule("upgrad"), trees))()
        np.testing.assert_allclose(np.concatenate([d["a"], d["b"][0]]), [0.292398, 1.900585, 1.900585], atol=1e-5)

    @needs("jax")
    def test_types(self):
        import jax
        import jax.numpy as jnp

        import parallelcl.jax

        rule, want = Rule("upgrad"), [0.292398, 1.900585, 1.900585]
        for gram in (BASE @ BASE.T).astype(int), jnp.asarray(BASE @ BASE.T, int), jnp.asarray(BASE @ BASE.T, jnp.bfloat16):
            np.testing.assert_allclose(np.asarray(parallelcl.jax.weights(rule, gram), float), [1.111111, 0.789474], atol=4e-3)
        j = jnp.asarray(BASE)
        for types in [(jnp.bfloat16, jnp.bfloat16), (jnp.float16, jnp.float16), (jnp.bfloat16, jnp.float32), (jnp.float32, jnp.float16)]:
            for scale in (1, 300):  # the squares of 6 · 300 are beyond float16
                trees = [{"a": scale * row[:1].astype(types[0]), "b": (scale * row[1:].astype(types[1]),)} for row in j]
                d = jax.jit(lambda trees: parallelcl.jax.direction(rule, trees))(trees)
                with self.subTest(types=types, scale=scale):
                    self.assertEqual((d["a"].dtype, d["b"][0].dtype), types)
                    near = 0.02 if jnp.bfloat16 in types else 2e-3
                    np.testing.assert_allclose(np.asarray(d["a"], float), scale * np.array(want[:1]), rtol=near)
                    np.testing.assert_allclose(np.asarray(d["b"][0], float), scale * np.array(want[1:]), rtol=near)

    @needs("jax")
    def test_low_precision_is_summed_in_float32(self):
        import jax.numpy as jnp

        import parallelcl.jax

        j = np.random.default_rng(0).normal(size=(4, 20000)) + 0.2
        exact = np.asarray(jnp.asarray(j, jnp.bfloat16), float)
        d = parallelcl.jax.direction(Rule("mgda"), list(jnp.asarray(j, jnp.bfloat16)))
        np.testing.assert_allclose(np.asarray(d, float), Rule("mgda").direction(exact), rtol=0.01, atol=1e-4)

    @needs("jax")
    def test_refused(self):
        import jax
        import jax.numpy as jnp

        import parallelcl.jax

        rows = list(jnp.asarray(BASE))
        for name, want in {"graddrop": "graddrop needs the Jacobian", "dwa": "dwa needs losses"}.items():
            with self.assertRaisesRegex(Error, want):
                parallelcl.jax.direction(Rule(name), rows)
        rule = Rule("upgrad")
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "gram row 1, entry 1 is NaN"):
            parallelcl.jax.weights(rule, jnp.full((2, 2), jnp.nan))
        np.testing.assert_allclose(parallelcl.jax.weights(rule, jnp.eye(2)), [0.5, 0.5], atol=1e-6)
        for own in ([None], ["a", None]):
            with self.assertRaisesRegex(Error, "own: want 2 names of entries"):
                parallelcl.jax.direction(rule, rows, own=own)

    @needs("jax")
    def test_scale_losses_and_rules_in_python(self):
        import jax
        import jax.numpy as jnp

        import parallelcl.jax

        rows, losses = list(jnp.asarray(BASE, jnp.float32)), [1.5, 0.5]
        for name in ("emgd-gmc", "gls", "upgrad"):
            given = losses if Rule(name).info["needs_losses"] else None
            want = Rule(name).direction(BASE, given)
            for scale in (1.0, 1024.0, 65536.0):
                step = jax.jit(lambda rows, losses: parallelcl.jax.direction(Rule(name), rows, losses, grad_scale=scale))
                d = step([scale * row for row in rows], None if given is None else [scale * x for x in losses])
                np.testing.assert_allclose(np.asarray(d) / scale, want, rtol=1e-4, atol=1e-5)
        bad = [rows[0], jnp.full(3, jnp.inf)]
        rule = EMGD()
        state = rule.state()
        self.assertTrue(np.isnan(parallelcl.jax.direction(rule, bad, nonfinite="skip")).all())
        self.assertEqual(rule.state(), state)
        d = jax.jit(lambda rows: parallelcl.jax.direction(lambda gram, losses, ids: [1, 2], rows))(rows)
        np.testing.assert_allclose(d, BASE[0] + 2 * BASE[1], rtol=1e-6)

    @needs("jax")
    def test_heads(self):
        import jax.numpy as jnp

        import parallelcl.jax

        trees = [{"trunk": jnp.asarray(row), "a": jnp.full(2, 1.0 + i), "b": jnp.full(1, 5.0 - i)} for i, row in enumerate(BASE)]
        d = parallelcl.jax.direction(Rule("upgrad"), trees, own=["a", "b"])
        np.testing.assert_allclose(d["trunk"], [0.292398, 1.900585, 1.900585], atol=1e-5)
        np.testing.assert_allclose(np.concatenate([d["a"], d["b"]]), [1, 1, 4])


if __name__ == "__main__":
    unittest.main()
