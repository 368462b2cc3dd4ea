"""Rules in loops of JAX, also inside of functions that jax.jit compiles."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from ._rule import Rule


def weights(rule, gram):
    """The weights of a Gram matrix. In a compiled function it calls back to Python, once for each run of the function
    and in order, because the rule may remember something."""
    of = jax.ShapeDtypeStruct(gram.shape[:1], gram.dtype)
    return io_callback(lambda m: rule.weights(np.asarray(m, np.float64)).astype(of.dtype), of, gram, ordered=True)


def direction(rule, gradients):
    """The weighted sum of gradients, a list of K trees of arrays, for a rule on the Gram matrix."""
    flat = [jnp.concatenate([jnp.ravel(x) for x in jax.tree.leaves(g)]) for g in gradients]
    jacobian = jnp.stack(flat)
    w = weights(rule, jnp.matmul(jacobian, jacobian.T, precision="highest"))
    return jax.tree.map(lambda *parts: sum(x * part for x, part in zip(w, parts)), *gradients)


__all__ = ["Rule", "direction", "weights"]
