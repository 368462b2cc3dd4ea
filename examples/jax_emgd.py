"""The descent of `pytorch_emgd.py` in JAX; the whole step, with its call of EMGD, is one compiled function.

    pip install jax dist/parallelcl-*.whl     # docs/python.md says how to build the wheel
    python examples/jax_emgd.py
"""

import jax
import jax.numpy as jnp

import parallelcl
import parallelcl.jax

jax.config.update("jax_enable_x64", True)


def f1(theta: jax.Array) -> jax.Array:
    x, y = theta
    return jnp.log(1 + x * x) + 0.8 * (1 - jnp.exp(x) * jnp.sin(y)) ** 2


def f2(theta: jax.Array) -> jax.Array:
    x, y = theta
    return jnp.log(1 + y * y) + 0.004 * (0.1 + jnp.exp(y) * jnp.cos(x)) ** 2


def descend(rule: parallelcl.Rule, steps: int = 1500, arrival: int = 500, lr: float = 2e-5) -> list[list[float]]:
    """The losses (f1, f2) before each step, and after the last."""

    @jax.jit
    def alone(theta: jax.Array) -> jax.Array:
        return theta - lr * jax.grad(f1)(theta)

    @jax.jit
    def together(theta: jax.Array) -> jax.Array:
        return theta - lr * parallelcl.jax.direction(rule, [jax.grad(f1)(theta), jax.grad(f2)(theta)])

    losses = jax.jit(lambda theta: (f1(theta), f2(theta)))
    theta, curve = jnp.array([3.0, 3.0]), []
    for step in range(steps):
        curve.append([float(x) for x in losses(theta)])
        theta = alone(theta) if step < arrival else together(theta)
    return curve + [[float(x) for x in losses(theta)]]


if __name__ == "__main__":
    curve = descend(parallelcl.EMGDGMC(tau=5))
    print(f"f1 {curve[500][0]:.4f} → {curve[-1][0]:.4f}, f2 {curve[500][1]:.4f} → {curve[-1][1]:.4f}")
