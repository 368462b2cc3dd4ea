"""JAX's training step: J and JJᵀ in one compiled function, the weights on the host, the update in another.

vmap    the K gradients by vmap(grad)
map     by lax.map
calls   by a compiled grad called K times
"""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree

import turns


def dense(rng, inputs, outputs):
    bound = np.sqrt(6 / (inputs + outputs))
    return [rng.uniform(-bound, bound, (inputs, outputs)).astype(np.float32), np.zeros(outputs, np.float32)]


def mlp(rng, outputs):
    return [dense(rng, 784, 128), dense(rng, 128, 64), dense(rng, 64, outputs)], mlp_forward


def mlp_forward(params, x):
    h = x
    for w, b in params[:-1]:
        h = jax.nn.relu(h @ w + b)
    return h @ params[-1][0] + params[-1][1], ()


def kernel(rng, size, inputs, outputs):
    return rng.normal(0, np.sqrt(2 / (size * size * inputs)), (size, size, inputs, outputs)).astype(np.float32)


def norm(channels):
    return [np.ones(channels, np.float32), np.zeros(channels, np.float32)]


def resnet18(rng, width, outputs):
    params = {"stem": [kernel(rng, 3, 3, width), norm(width)], "blocks": []}
    inputs = width
    for stage in range(4):
        for i in range(2):
            out = width << stage
            block = {"conv1": kernel(rng, 3, inputs, out), "norm1": norm(out), "conv2": kernel(rng, 3, out, out), "norm2": norm(out)}
            if stage > 0 and i == 0:
                block["shortcut"] = [kernel(rng, 1, inputs, out), norm(out)]
            params["blocks"].append(block)
            inputs = out
    params["classifier"] = dense(rng, inputs, outputs)
    return params, resnet18_forward


def convolve(x, w, stride=1):
    margin = w.shape[0] // 2
    return lax.conv_general_dilated(x, w, (stride, stride), [(margin, margin)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def resnet18_forward(params, x):
    """The logits, and the batch's means and variances, which a running mean would take."""
    stats = []

    def normalise(x, p):
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        stats.append((mean, variance))
        return (x - mean) * lax.rsqrt(variance + 1e-5) * p[0] + p[1]

    w, p = params["stem"]
    h = jax.nn.relu(normalise(convolve(x, w), p))
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    for block in params["blocks"]:
        stride = 2 if "shortcut" in block else 1
        y = jax.nn.relu(normalise(convolve(h, block["conv1"], stride), block["norm1"]))
        y = normalise(convolve(y, block["conv2"]), block["norm2"])
        if "shortcut" in block:
            h = normalise(convolve(h, block["shortcut"][0], 2), block["shortcut"][1])
        h = jax.nn.relu(y + h)
    w, b = params["classifier"]
    return h.mean((1, 2)) @ w + b, stats


class Contender:
    def __init__(self, a):
        self.a = a
        shape = (784,) if a.model == "mlp" else (a.side, a.side, 3)
        x, y = turns.batches(a, shape)
        self.batches, self.labels, self.each = itertools.cycle(x), jnp.asarray(y), list(jnp.asarray(y))
        rng = np.random.default_rng(1)
        params, self.forward = mlp(rng, turns.outputs(a)) if a.model == "mlp" else resnet18(rng, a.width, turns.outputs(a))
        self.theta, self.unravel = ravel_pytree(jax.tree.map(jnp.asarray, params))
        self.m, self.v, self.t = jnp.zeros_like(self.theta), jnp.zeros_like(self.theta), 0
        self.statistics = jax.tree.map(jnp.zeros_like, jax.eval_shape(self.forward, params, x[0, 0])[1])

    def loss(self, theta, x, y):
        logits, stats = self.forward(self.unravel(theta), x)
        log_p = jax.nn.log_softmax(logits[:, : turns.CLASSES_PER_TASK * self.a.k])
        return -jnp.take_along_axis(log_p, y[:, None], 1).mean(), stats

    def one(self, theta, x, y):
        return jax.value_and_grad(self.loss, has_aux=True)(theta, x, y)

    @partial(jax.jit, static_argnums=0)
    def gradients(self, theta, x, y):
        """((losses, statistics), J [K, P]) and JJᵀ."""
        if self.a.variant == "vmap":
            rows = jax.vmap(self.one, (None, 0, 0))(theta, x, y)
        else:
            rows = lax.map(lambda xy: self.one(theta, *xy), (x, y))
        return rows, rows[1] @ rows[1].T

    @partial(jax.jit, static_argnums=0)
    def called(self, theta, x, y):
        return self.one(theta, x, y)

    @partial(jax.jit, static_argnums=0)
    def stacked(self, rows):
        rows = jax.tree.map(lambda *parts: jnp.stack(parts), *rows)
        return rows, rows[1] @ rows[1].T

    def jacobian(self, x):
        if self.a.variant != "calls":
            return self.gradients(self.theta, x, self.labels)
        return self.stacked([self.called(self.theta, x[k], self.each[k]) for k in range(self.a.k)])

    @partial(jax.jit, static_argnums=0, donate_argnums=(1, 2, 3))
    def update(self, theta, m, v, j, weights, t):
        d = weights @ j
        m = turns.BETA1 * m + (1 - turns.BETA1) * d
        v = turns.BETA2 * v + (1 - turns.BETA2) * d * d
        mean, root = m / (1 - turns.BETA1**t), jnp.sqrt(v / (1 - turns.BETA2**t)) + turns.EPSILON
        return theta - turns.LR * mean / root, m, v

    @partial(jax.jit, static_argnums=0)
    def run(self, running, stats):
        return jax.tree.map(lambda r, s: 0.9 * r + 0.1 * s.mean(0), running, stats)

    def step(self):
        ((losses, stats), j), gram = self.jacobian(next(self.batches))
        weights = turns.min_norm(np.asarray(gram, np.float64))
        self.t += 1
        self.theta, self.m, self.v = self.update(self.theta, self.m, self.v, j, weights.astype(np.float32), float(self.t))
        self.statistics = self.run(self.statistics, stats)
        np.asarray(losses)
        jax.block_until_ready((self.theta, self.statistics))


def main():
    a = turns.arguments()
    jax.config.update("jax_platforms", a.device)  # an error where it is not there, instead of another device
    jax.config.update("jax_default_matmul_precision", "float32")  # no TF32, as ours
    contender = Contender(a)
    turns.take_turns(a, contender.step, contender.theta.size)


if __name__ == "__main__":
    main()
