"""PyTorch loops as they are in use: loss scaling, heads, rules in Python, and the engine. Skipped without PyTorch."""

import copy
import io
import json
import os
import socket
import subprocess
import sys
import unittest
import warnings

import numpy as np

import parallelcl
from parallelcl import Error, Rule
from test_loops import missing, needs

if not missing("torch"):
    import torch

    import parallelcl.torch
    from parallelcl.torch import Engine, backward


def net(dtype=None, seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)).to(dtype or torch.float32)


def batch(k=3, n=4, seed=1):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(k * n, 6, generator=g), torch.randint(3, (k * n,), generator=g)


def task_losses(model, x, y, k=3):
    per_sample = torch.nn.functional.cross_entropy(model(x).float(), y, reduction="none")
    return [part.mean() * (1 + i) for i, part in enumerate(per_sample.reshape(k, -1))]


def grads(model):
    return torch.cat([p.grad.reshape(-1) for p in model.parameters() if p.grad is not None])


# Rules whose weights would be others under AMP without the scale: they read lengths or losses as such, or remember them.
SERIAL = {"er", "a-gem", "mega-1", "mega-2", "mega-release", "gem", "pocl"}


def quiet(name, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Rule(name, **params)


@needs("torch")
class Scaled(unittest.TestCase):
    def test_every_rule_at_every_scale(self):
        """fp16 and bf16 gradients: the weights are those of the scale 1, and grad is scaled."""
        for dtype in (torch.float16, torch.bfloat16):
            model = net(dtype)
            x, y = batch()
            for name in parallelcl.methods():
                ids = [0, 1, 2] if name in SERIAL else None
                want, at1 = None, None
                for scale in (1.0, 16.0, 1024.0, 65536.0):
                    model.zero_grad()
                    losses = [scale * loss for loss in task_losses(model, x.to(dtype), y)]
                    rule = quiet(name)
                    with self.subTest(name, dtype=dtype, scale=scale):
                        w = backward(losses, model, rule, grad_scale=scale, ids=ids)
                        g = grads(model).double() / scale
                        if scale == 1:
                            want, at1 = w, g
                            continue
                        if not torch.isfinite(g).all():
                            continue  # the gradient itself is beyond fp16: a scaler would skip the step
                        torch.testing.assert_close(w, want, rtol=1e-3, atol=1e-3)
                        torch.testing.assert_close(g, at1, rtol=2e-2, atol=2e-2 * float(at1.abs().max()))

    def test_scaler(self):
        model, rule = net(), parallelcl.EMGDGMC()
        x, y = batch()
        want = backward(task_losses(model, x, y), model, copy.deepcopy(rule))
        plain = grads(model)
        for scaled in (False, True, "vector", "unbound"):
            scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
            model.zero_grad()
            losses = task_losses(model, x, y)
            if scaled:
                losses = scaler.scale(torch.stack(losses)) if scaled != True else scaler.scale(losses)
                losses = list(losses) if scaled == "unbound" else losses
            else:
                scaler.scale(losses[0])  # which makes the scale, as in a loop
            with self.subTest(scaled=scaled):
                torch.testing.assert_close(backward(losses, model, copy.deepcopy(rule), scaler=scaler), want, rtol=1e-5, atol=0)
                torch.testing.assert_close(grads(model), 1024 * plain, rtol=1e-4, atol=1e-4)
                scaler.step(optimizer)
                torch.testing.assert_close(grads(model), plain, rtol=1e-4, atol=1e-7)

    def test_fresh_scaler_of_1(self):
        """A scaler at the scale 1 that has scaled nothing yet can step, as at any other scale."""
        model = net()
        x, y = batch()
        for scale in (1.0, 2.0):
            with self.subTest(scale=scale):
                scaler, optimizer = torch.amp.GradScaler("cpu", init_scale=scale), torch.optim.SGD(model.parameters(), lr=0.1)
                backward(task_losses(model, x, y), model, parallelcl.EMGDGMC(), scaler=scaler)
                scaler.step(optimizer)
                scaler.update()
                self.assertEqual(scaler.get_scale(), scale)

    def test_overflow_is_skipped(self):
        for name in ("emgd-gmc", "graddrop"):
            model, rule = net(), Rule(name)
            before, state = [p.clone() for p in model.parameters()], rule.state()
            scaler = torch.amp.GradScaler("cpu", init_scale=2.0**15)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            x, y = batch()
            losses = task_losses(model, x, y)
            losses[1] = losses[1] * float("inf")
            with self.subTest(name):
                weights = backward(losses, model, rule, scaler=scaler)
                scaler.step(optimizer)
                scaler.update()
                self.assertTrue(weights.isnan().all())
                self.assertEqual((scaler.get_scale(), rule.state()), (2.0**14, state))
                for p, q in zip(model.parameters(), before):
                    torch.testing.assert_close(p, q)
                losses = task_losses(model, x, y)
                losses[1] = losses[1] * float("inf")
                with self.assertRaisesRegex(Error, "NaN|Inf"):
                    backward(losses, model, rule, scaler=scaler, nonfinite="raise")
                with self.assertRaisesRegex(Error, "nonfinite='no'"):
                    backward(task_losses(model, x, y), model, rule, nonfinite="no")

    def test_warning(self):
        x, y = batch()
        for name, depends in {"mgda": False, "upgrad": False, "emgd-gmc": True, "emgd-gs": False, "dwa": True}.items():
            model, rule = net(), Rule(name)
            with self.subTest(name), warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                for scale in (1, 1024, 1024, 1):  # once
                    backward([scale * loss for loss in task_losses(model, x, y)], model, rule)
                self.assertEqual([f"{name}'s weights depend on the scale" in str(w.message) for w in said], [True] * depends)
        alive = torch.amp.GradScaler("cpu")
        with self.assertWarnsRegex(UserWarning, "a GradScaler is in use: give scaler="):
            backward(task_losses(model, x, y), model, parallelcl.EMGDGMC())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            alive.scale(torch.ones(1))
            backward(task_losses(model, x, y), model, parallelcl.EMGDGMC(), scaler=alive)

    def test_refused(self):
        model = net()
        x, y = batch()
        for want, given in {
            "give either scaler or grad_scale": dict(scaler=torch.amp.GradScaler("cpu"), grad_scale=2),
            "grad_scale is 0.0; want a positive": dict(grad_scale=0),
            "grad_scale is inf": dict(grad_scale=float("inf")),
        }.items():
            with self.subTest(want), self.assertRaisesRegex(Error, want):
                backward(task_losses(model, x, y), model, Rule("mgda"), **given)


@needs("torch")
class Heads(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.trunk, self.heads = torch.nn.Linear(6, 4), torch.nn.ModuleList(torch.nn.Linear(4, 2) for _ in range(3))
        self.x = torch.randn(5, 6)

    def losses(self):
        return [(head(self.trunk(self.x).tanh()) - i).square().mean() for i, head in enumerate(self.heads)]

    def test_own(self):
        for own in (list(self.heads), [h.parameters() for h in self.heads], self.heads, [list(h.parameters()) for h in self.heads]):
            for p in [*self.trunk.parameters(), *self.heads.parameters()]:
                p.grad = None
            weights = backward(self.losses(), self.trunk, Rule("mgda"), own=own)
            trunk, heads = grads(self.trunk), grads(self.heads)
            for p in [*self.trunk.parameters(), *self.heads.parameters()]:
                p.grad = None
            (weights.float() * torch.stack(self.losses())).sum().backward()
            torch.testing.assert_close(trunk, grads(self.trunk))
            self.heads.zero_grad()
            sum(self.losses()).backward()
            torch.testing.assert_close(heads, grads(self.heads))

    def test_none_has_no_head(self):
        backward(self.losses(), [*self.trunk.parameters()], Rule("mgda"), own=[None, self.heads[1], None])
        self.assertIsNone(self.heads[0].weight.grad)
        self.assertIsNotNone(self.heads[1].weight.grad)

    def test_swapped_heads(self):
        """A head that its loss does not reach would never train."""
        a, b, c = self.heads
        with self.assertRaisesRegex(Error, "own, entry 1: loss 1 does not depend"):
            backward(self.losses(), self.trunk, Rule("mgda"), own=[b, a, c])

    def test_mistakes(self):
        losses = self.losses()
        spent = self.trunk.parameters()
        list(spent)
        whole = torch.nn.ModuleList([self.trunk, self.heads])
        for want, call in {
            "parameters is empty; an iterator such as net.parameters\\(\\) can be used once": lambda: backward(losses, spent, Rule("mgda")),
            "parameters has no tensor that requires a gradient": lambda: backward(losses, [torch.ones(2)], Rule("mgda")),
            "parameters has a str": lambda: backward(losses, ["a"], Rule("mgda")),
            "an entry for each of the 3 losses": lambda: backward(losses, self.trunk, Rule("mgda"), own=[self.heads[0]]),
            "own, entry 2 is empty": lambda: backward(losses, self.trunk, Rule("mgda"), own=[None, iter(()), None]),
            "2 tensors are among the shared parameters": lambda: backward(losses, whole, Rule("mgda"), own=[self.heads[0], None, None]),
            "losses: want a list of tensors": lambda: backward([], self.trunk, Rule("mgda")),
            "rule is 'mgda'; want a Rule": lambda: backward(losses, self.trunk, "mgda"),
        }.items():
            with self.subTest(want), self.assertRaisesRegex(Error, want):
                call()
        backward(losses, self.trunk, Rule("mgda"))
        with self.assertRaisesRegex(Error, r"loss \d: an earlier backward has freed its graph; .* by own="):
            backward(losses, self.heads, Rule("mgda"))


def shortest(gram, losses, ids):
    """MGDA of two gradients."""
    if len(gram) == 1:
        return [1.0]
    a = (gram[1, 1] - gram[0, 1]) / (gram[0, 0] - 2 * gram[0, 1] + gram[1, 1])
    a = min(max(a, 0.0), 1.0)
    return [a, 1 - a]


class Counting:
    def __init__(self):
        self.state = {"steps": 0, "ended": []}

    def __call__(self, gram, losses, ids):
        self.state["steps"] += 1
        return np.full(len(ids), float(self.state["steps"]))

    def end(self, id):
        self.state["ended"].append(id)


class OwnRules(unittest.TestCase):
    """A rule in Python, without PyTorch."""

    def test_weights(self):
        j = np.array([[-4.0, 1, 1], [6, 1, 1]])
        rule = parallelcl.Own(shortest)
        np.testing.assert_allclose(rule.weights(j @ j.T), [0.6, 0.4])
        np.testing.assert_allclose(rule.direction(j), [0, 1, 1], atol=1e-12)
        for want, given in {
            "gram has the shape": dict(gram=np.ones((2, 3))),
            "not finite": dict(gram=[[np.nan, 0], [0, 1]]),
            "1 ids and 2 losses for 2": dict(gram=np.eye(2), losses=[1, 2], ids=[1]),
            "give either gram or jacobian": {},
        }.items():
            with self.subTest(want), self.assertRaisesRegex(Error, want):
                rule.weights(**given)

    def test_wrong_answers_name_the_place(self):
        line = (lambda *_: 0).__code__.co_firstlineno
        for want, function in {
            rf"test_torch.py:{line + 2}: <lambda> returned \[1.\]; want 2 finite": lambda *_: [1.0],
            "returned .nan +1.*; want 2 finite": lambda *_: [np.nan, 1],
            "weights is missing": lambda *_: None,
        }.items():
            with self.subTest(want), self.assertRaisesRegex(Error, want):
                parallelcl.Own(function).weights(np.eye(2))

    def test_state(self):
        rule, other = parallelcl.Own(Counting()), parallelcl.Own(Counting())
        rule.weights(np.eye(2))
        rule.end(3)
        other.set_state(rule.state())
        self.assertEqual(other.function.state, {"steps": 1, "ended": [3]})
        np.testing.assert_array_equal(other.weights(np.eye(1)), [2])
        other.function.state = {1: 2}
        with self.assertRaisesRegex(Error, "would come back as .*want lists, and dicts whose keys are texts"):
            other.state()
        self.assertEqual(parallelcl.Own(shortest).state(), b"null")

    @needs("torch")
    def test_backward(self):
        model = net()
        x, y = batch(2)
        want = backward(task_losses(model, x, y, 2), model, Rule("mgda"))
        for rule in (shortest, parallelcl.Own(shortest)):
            torch.testing.assert_close(backward(task_losses(model, x, y, 2), model, rule), want)
        seen = []
        backward(task_losses(model, x, y, 2), model, lambda gram, losses, ids: seen.append((losses, ids)) or [1, 1], ids=[0, 4], grad_scale=2)
        np.testing.assert_allclose(seen[0][0], [float(v.detach()) / 2 for v in task_losses(model, x, y, 2)], rtol=1e-6)
        self.assertEqual(seen[0][1], [0, 4])

    @needs("torch", "torchjd")
    def test_torchjd(self):
        from parallelcl.torchjd import Aggregator, Weighting

        j = torch.tensor([[-4.0, 1, 1], [6, 1, 1]])
        torch.testing.assert_close(Weighting(shortest)(j @ j.T), torch.tensor([0.6, 0.4]))
        torch.testing.assert_close(Aggregator(shortest)(j), torch.tensor([0.0, 1, 1]))
        counting = Weighting(Counting())
        counting(j @ j.T)
        other = Weighting(Counting())
        other.load_state_dict(counting.state_dict())
        torch.testing.assert_close(other(j @ j.T), torch.tensor([2.0, 2]))
        other.reset()
        torch.testing.assert_close(other(j @ j.T), torch.tensor([1.0, 1]))


if not missing("torch"):

    class Conv(torch.nn.Module):
        def __init__(self, groups=1, padding=1):
            super().__init__()
            self.first = torch.nn.Conv2d(2, 4, 3, padding=padding, stride=2 if padding != "same" else 1)
            self.normal = torch.nn.BatchNorm2d(4)
            self.second = torch.nn.Conv2d(4, 4, 3, groups=groups, dilation=2, padding=2, bias=False)
            self.out = torch.nn.Linear(4, 3)

        def forward(self, x):
            x = torch.nn.functional.relu(self.normal(self.first(x)), inplace=True)
            return self.out(torch.nn.functional.relu(self.second(x), inplace=True).mean((2, 3)))

    class Text(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.words = torch.nn.Embedding(20, 8, padding_idx=0)
            self.normal, self.mix, self.out = torch.nn.LayerNorm(8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 3)

        def forward(self, x):
            h = self.words(x)
            for _ in range(2):  # the same layers twice
                h = h + self.mix(self.normal(h)).tanh()
            return self.out(h.mean(1))


@needs("torch")
class TestEngine(unittest.TestCase):
    def check(self, model, x, k, losses_of, rule="emgd-gmc", **given):
        """The engine's weights and gradients are those of K passes."""
        y = torch.randint(3, (len(x),), generator=torch.Generator().manual_seed(5))
        plain = copy.deepcopy(model)
        engine = Engine(model)
        a, b = quiet(rule), quiet(rule)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                model.zero_grad(), plain.zero_grad()
                got = engine.backward(losses_of(model(x), y), a, **given)
                want = backward(losses_of(plain(x), y), plain, b, **given)
                torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
                torch.testing.assert_close(grads(model), grads(plain), rtol=1e-4, atol=1e-5 * float(grads(plain).abs().max()))
        return engine

    def per_task(self, k):
        return lambda out, y: [part.mean() for part in torch.nn.functional.cross_entropy(out, y, reduction="none").split([1 + i % 2 for i in range(k)])]

    def test_layers(self):
        per_sample = lambda out, y: torch.nn.functional.cross_entropy(out, y, reduction="none")
        for seed, model in enumerate([Conv().eval(), Conv(groups=2).eval(), Conv(padding="same").eval(), Conv(padding="valid").eval()]):
            torch.manual_seed(seed)
            x = torch.randn(8, 2, 9, 9)
            with self.subTest(seed):
                self.check(copy.deepcopy(model), x, 8, per_sample)
                self.check(copy.deepcopy(model), x[:6], 4, self.per_task(4))
        words = torch.randint(20, (6, 5), generator=torch.Generator().manual_seed(3))
        torch.manual_seed(0)
        self.check(Text(), words, 6, per_sample)
        self.check(Text(), words, 4, self.per_task(4), ids=[0, 3, 4, 5])
        wide = torch.nn.Sequential(torch.nn.Linear(6, 50), torch.nn.ReLU(inplace=True), torch.nn.LayerNorm(50), torch.nn.Linear(50, 3))
        for rule in ("emgd-gmc", "dwa", "upgrad"):
            self.check(copy.deepcopy(wide), torch.randn(8, 6), 8, per_sample, rule)
            self.check(copy.deepcopy(wide), torch.randn(8, 6), 8, lambda out, y: 64 * per_sample(out, y), rule, grad_scale=64.0)

    def test_many_losses(self):
        """Losses are told apart digit by digit, of which 40 need two, and in 16 bits six."""
        per_sample = lambda out, y: torch.nn.functional.cross_entropy(out.float(), y, reduction="none")
        torch.manual_seed(0)
        wide = torch.nn.Sequential(torch.nn.Linear(6, 50), torch.nn.ReLU(), torch.nn.Linear(50, 3))
        self.check(copy.deepcopy(wide), torch.randn(40, 6), 40, per_sample)
        self.check(copy.deepcopy(wide), torch.randn(60, 6), 40, self.per_task(40))
        tiny = lambda out, y: per_sample(out, y) * torch.logspace(-30, 0, 40, dtype=torch.float64).to(out)
        self.check(copy.deepcopy(wide), torch.randn(40, 6), 40, tiny, "upgrad")
        half, x = wide.half(), torch.randn(40, 6).half()
        y = torch.randint(3, (40,), generator=torch.Generator().manual_seed(5))
        engine, plain = Engine(half), copy.deepcopy(half)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = engine.backward(per_sample(half(x), y), Rule("upgrad"))
        torch.testing.assert_close(got, backward(per_sample(plain(x), y), plain, Rule("upgrad")), rtol=0.05, atol=0.05)

    def test_sequences(self):
        """A linear layer that is called with several rows for each sample, with and without a bias, and a layer that is frozen."""
        torch.manual_seed(0)
        losses = lambda out, y: (out.mean(1) - y[:, None]).square().mean(1)
        for bias in (True, False):
            model = torch.nn.Sequential(torch.nn.Linear(40, 60, bias=bias), torch.nn.Tanh(), torch.nn.Linear(60, 3, bias=bias))
            self.check(model, torch.randn(6, 4, 40), 6, losses)
            model[0].weight.requires_grad_(False)
            if bias:
                self.check(model, torch.randn(6, 4, 40), 6, losses)

    def test_samples_in_any_order(self):
        """Tasks' samples may be mixed in the batch, and some belong to none."""
        owner = torch.tensor([2, 0, -1, 1, 0, 2, 1, 1])
        losses = lambda out, y: [torch.nn.functional.cross_entropy(out[owner == i], y[owner == i]) for i in range(3)]
        torch.manual_seed(0)
        self.check(Conv().eval(), torch.randn(8, 2, 9, 9), 3, losses)
        self.check(net(), torch.randn(8, 6), 3, losses)

    def test_falls_back_to_k_passes(self):
        torch.manual_seed(0)
        x = torch.randn(4, 2, 9, 9)
        y = torch.tensor([0, 1, 2, 0])
        per_sample = lambda out: torch.nn.functional.cross_entropy(out, y, reduction="none")
        shared = lambda out: [per_sample(out).mean(), out.square().mean()]

        class Functional(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net, self.scale = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(162, 3)), torch.nn.Parameter(torch.ones(3))

            def forward(self, x):
                return self.net(x) * self.scale

        class Outside(Functional):
            def __init__(self):
                super().__init__()
                del self.scale

            def forward(self, x):
                return self.net(x) * self.net[1].bias

        flat = lambda: torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(162, 3))
        for want, model, losses in [
            ("BatchNorm2d in training joins", Conv(), per_sample),
            ("GroupNorm is a layer that the engine does not know", torch.nn.Sequential(torch.nn.GroupNorm(1, 2), torch.nn.Flatten(), torch.nn.Linear(162, 3)), per_sample),
            ("several losses depend on one sample", flat(), shared),
            ("several losses depend on one sample", flat(), lambda out: [per_sample(out)[0], -per_sample(out)[0]]),
            ("several losses depend on one sample|independently", flat(), lambda out: [i * per_sample(out).sum() for i in (1, 3, 2, 2)]),
            ("Functional is a layer", Functional(), per_sample),
            ("used outside of its layer", Outside(), per_sample),
            ("InstanceNorm|pass through the model independently", torch.nn.Sequential(flat(), Centred()), per_sample),
        ]:
            plain, engine = copy.deepcopy(model), Engine(model)
            with self.subTest(want):
                with self.assertWarnsRegex(UserWarning, want):
                    got = engine.backward(losses(model(x)), Rule("upgrad"))
                torch.testing.assert_close(got, backward(losses(plain(x)), plain, Rule("upgrad")))
                torch.testing.assert_close(grads(model), grads(plain))
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # it was said once
                    engine.backward(losses(model(x)), Rule("upgrad"))
        model = flat()
        engine = Engine(model)
        with self.assertRaisesRegex(Error, "several losses depend on one sample"):
            engine.gram(shared(model(x)))
        with self.assertWarnsRegex(UserWarning, "graddrop needs the gradients themselves"):
            engine.backward(per_sample(model(x)), Rule("graddrop"))

    def test_overflow(self):
        model = net()
        engine, scaler = Engine(model), torch.amp.GradScaler("cpu", init_scale=2.0**15)
        x, y = batch()
        losses = task_losses(model, x, y)
        losses[0] = losses[0] * float("inf")
        self.assertTrue(engine.backward(losses, parallelcl.EMGDGMC(), scaler=scaler).isnan().all())
        self.assertFalse(torch.isfinite(grads(model)).all())

    def test_autocast(self):
        model = net()
        plain, engine = copy.deepcopy(model), Engine(model)
        x, y = batch()
        for step in range(2):
            with torch.autocast("cpu", torch.bfloat16):
                losses, same = task_losses(model, x, y), task_losses(plain, x, y)
            got, want = engine.backward(losses, Rule("upgrad")), backward(same, plain, Rule("upgrad"))
            torch.testing.assert_close(got, want, rtol=2e-2, atol=2e-2)


if not missing("torch"):

    class Centred(torch.nn.Module):
        def forward(self, x):
            return x - 0.5 * x.mean(0).detach() * x.sum(0)


@needs("torch")
class Loops(unittest.TestCase):
    def test_two_processes(self):
        """Two processes with half of each batch have the weights and the gradient of one with the whole batch."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ddp.py")
        both = [subprocess.Popen([sys.executable, script, rank, port], stdout=subprocess.PIPE, text=True) for rank in "01"]
        said = [p.communicate(timeout=300)[0].split("weights and gradient:\n")[1].splitlines() for p in both]
        self.assertEqual(said[0], said[1])
        torch.manual_seed(0)
        model, rule = torch.nn.Linear(4, 3).double(), parallelcl.EMGDGMC()
        x, y = torch.randn(8, 4).double(), torch.randn(8, 3).double()
        for _ in range(2):
            model.zero_grad()
            out = model(x)
            weights = backward([((out - y)[:, i] ** 2).mean() for i in range(3)], model, rule)
        np.testing.assert_allclose(json.loads(said[0][0]), weights, rtol=1e-9)
        np.testing.assert_allclose(json.loads(said[0][1]), grads(model), rtol=1e-9, atol=1e-12)

    def test_compiled_step(self):
        """A compiled function computes forward pass and losses; backward and the rule run between compiled parts."""
        model, plain = net(), net()
        x, y = batch()
        compiled = torch.compile(task_losses, backend="aot_eager")
        a, b = parallelcl.EMGDGMC(), parallelcl.EMGDGMC()
        for _ in range(2):
            torch.testing.assert_close(backward(compiled(model, x, y), model, a), backward(task_losses(plain, x, y), plain, b), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(grads(model), grads(plain), rtol=1e-4, atol=1e-5)

    def test_compiled_whole_step(self):
        """torch.compile of a whole step, where backward may be traced or left out, makes the steps that plain PyTorch makes."""
        x, y = batch()
        want = None
        for how in ("plain", "traced", "left out"):
            model, rule = net(), parallelcl.EMGDGMC()
            optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
            run = torch.compiler.disable(backward) if how == "left out" else backward

            def step():
                optimizer.zero_grad()
                weights = run(task_losses(model, x, y), model, rule)
                optimizer.step()
                return weights

            torch.compiler.reset()
            steps = [step if how == "plain" else torch.compile(step, backend="aot_eager")] * 3
            with self.subTest(how), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # PyTorch's, of what it can't trace
                found = torch.stack([one() for one in steps])
                want = found if want is None else want
                torch.testing.assert_close(found, want, rtol=1e-4, atol=1e-4)

    def test_resume(self):
        """A loop goes on to the bit from what torch.save wrote of network, optimizer and rule."""
        x, y = batch()

        def loop(model, optimizer, rule, steps):
            for _ in range(steps):
                optimizer.zero_grad()
                backward(task_losses(model, x, y), model, rule)
                optimizer.step()

        model, rule = net(), parallelcl.EMGDGMC()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        loop(model, optimizer, rule, 3)
        file = io.BytesIO()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rule": rule.state()}, file)
        loop(model, optimizer, rule, 3)
        file.seek(0)
        saved = torch.load(file)
        again, other = net(seed=9), parallelcl.EMGDGMC()
        again.load_state_dict(saved["model"])
        optimizer = torch.optim.Adam(again.parameters(), lr=0.01)
        optimizer.load_state_dict(saved["optimizer"])
        other.set_state(saved["rule"])
        loop(again, optimizer, other, 3)
        for p, q in zip(model.parameters(), again.parameters()):
            torch.testing.assert_close(p, q, rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
