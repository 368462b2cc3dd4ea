"""Rules in loops of JAX, also inside of functions that jax.jit compiles."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from ._library import Error
from ._rule import Rule


def weights(rule: Rule, gram: jax.typing.ArrayLike) -> jax.Array:
    """The weights of a Gram matrix. In a compiled function it calls back to Python, once for each run of the function
    and in order, because the rule may remember something."""
    _check(rule)
    gram = jnp.asarray(gram)
    of = jax.ShapeDtypeStruct(gram.shape[:1], _floating(gram.dtype))
    return io_callback(lambda m: rule.weights(np.asarray(m)).astype(of.dtype), of, gram, ordered=True)


def direction(rule: Rule, gradients: list[Any]) -> Any:
    """The weighted sum of gradients, a list of K trees of arrays, for a rule on the Gram matrix."""
    w = weights(rule, sum(jax.tree.leaves(jax.tree.map(_gram, *gradients))))
    return jax.tree.map(lambda *parts: _weighted(w, parts), *gradients)


def _gram(*parts: jax.Array) -> jax.Array:
    """One leaf's share of the Gram matrix, in float32 at least: in less, the matrix would be none of any gradients."""
    j = jnp.stack([jnp.ravel(x) for x in parts])
    j = j.astype(jnp.promote_types(_floating(j.dtype), jnp.float32))
    return jnp.matmul(j, j.T, precision="highest")


def _weighted(w: jax.Array, parts: tuple[jax.Array, ...]) -> jax.Array:
    """The sum of one leaf, in the leaf's own type."""
    return sum(x * part for x, part in zip(w, parts)).astype(_floating(jnp.result_type(*parts)))


def _floating(dtype: Any) -> Any:
    return dtype if jnp.issubdtype(dtype, jnp.floating) else jnp.result_type(float)


def _check(rule: Rule) -> None:
    """An error in a callback would come as one of JAX."""
    if rule.info["needs_rows"]:
        raise Error(f"{rule.name} needs the Jacobian, and here only the Gram matrix is passed on: call rule.direction(jacobian) outside of compiled functions")
    if rule.info["needs_losses"]:
        raise Error(f"{rule.name} needs losses, which are not passed on here: call rule.weights(gram, losses=losses) outside of compiled functions")


__all__ = ["Rule", "direction", "weights"]
