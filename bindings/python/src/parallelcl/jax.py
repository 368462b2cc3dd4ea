"""Rules in loops of JAX, also inside of functions that jax.jit compiles."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, Literal, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from ._library import Error
from ._own import AnyRule, Own, as_rule
from ._rule import Rule
from ._values import Floats

Tree = TypeVar("Tree")


def weights(rule: AnyRule, gram: jax.typing.ArrayLike, losses: jax.typing.ArrayLike | None = None, *, nonfinite: Literal["raise", "skip"] = "raise") -> jax.Array:
    """The weights of a Gram matrix. In a compiled function it calls back to Python, once for each run of the function
    and in order, because the rule may remember something. Give losses to rules that read them. With nonfinite="skip" the
    rule isn't asked where an entry is not finite, and the weights are NaN."""
    held = as_rule(rule)
    _check(held, losses)
    gram = jnp.asarray(gram)
    of = jax.ShapeDtypeStruct(gram.shape[:1], _floating(gram.dtype))

    def ask(m: Any, *values: Any) -> Any:
        if nonfinite == "skip" and not np.isfinite(np.asarray(m, float)).all():
            return np.full(of.shape, np.nan, of.dtype)
        found: Floats = held.weights(np.asarray(m), losses=np.asarray(values[0], float) if values else None)
        return found.astype(of.dtype)

    return io_callback(ask, of, gram, *([] if losses is None else [jnp.asarray(losses)]), ordered=True)


def direction(
    rule: AnyRule, gradients: list[Tree], losses: jax.typing.ArrayLike | None = None, *, own: Sequence[str | None] | None = None,
    grad_scale: jax.typing.ArrayLike = 1, nonfinite: Literal["raise", "skip"] = "raise",
) -> Tree:
    """The weighted sum of gradients, a list of K trees of arrays, for a rule on the Gram matrix. Give losses to rules that
    read them.

    own         names of entries of the gradients, which are dicts then, one for each loss (or None): the parameters that it
                alone trains, such as its head; they stand in the direction with the loss's own gradient, and not in the Gram matrix
    grad_scale  the factor by which the losses were multiplied for mixed precision: the rule sees gradients (and losses)
                without it, and the direction has it
    nonfinite   "skip": where a gradient is not finite the direction is NaN, and the rule isn't asked"""
    heads = [name for name in own or [] if name is not None]
    trees: list[Any] = list(gradients)
    if own is not None and (len(own) != len(trees) or not all(isinstance(g, dict) and all(name in g for name in heads) for g in trees)):
        raise Error(f"own: want {len(gradients)} names of entries, or None, one for each loss, and gradients that are dicts with these entries")
    shared = [{name: part for name, part in g.items() if name not in heads} for g in trees] if heads else trees
    scale = jnp.asarray(grad_scale, jnp.float32)
    products = reduce(jnp.add, jax.tree.leaves(jax.tree.map(lambda *parts: _gram(scale, *parts), *shared)))
    w = weights(rule, products, None if losses is None else jnp.asarray(losses) / scale, nonfinite=nonfinite)
    found: Any = jax.tree.map(lambda *parts: _weighted(w, parts), *shared)
    for name, g in zip(own or [], trees):
        if name is not None:
            found[name] = jax.tree.map(jnp.add, found[name], g[name]) if name in found else g[name]
    whole: Tree = found
    return whole


def _gram(scale: jax.Array, *parts: jax.Array) -> jax.Array:
    """One leaf's share of the Gram matrix, in float32 at least: in less, the matrix would be none of any gradients."""
    j = jnp.stack([jnp.ravel(x) for x in parts])
    j = j.astype(jnp.promote_types(_floating(j.dtype), jnp.float32))
    j = j / scale.astype(j.dtype)
    return jnp.matmul(j, j.T, precision="highest")


def _weighted(w: jax.Array, parts: tuple[jax.Array, ...]) -> jax.Array:
    """The sum of one leaf, in the leaf's own type."""
    return reduce(jnp.add, (x * part for x, part in zip(w, parts))).astype(_floating(jnp.result_type(*parts)))


def _floating(dtype: Any) -> Any:
    return dtype if jnp.issubdtype(dtype, jnp.floating) else jnp.result_type(float)


def _check(rule: Rule | Own, losses: Any) -> None:
    """An error in a callback would come as one of JAX."""
    if rule.info["needs_rows"]:
        raise Error(f"{rule.name} needs the Jacobian, and here only the Gram matrix is passed on: call rule.direction(jacobian) outside of compiled functions")
    if rule.info["needs_losses"] and losses is None and not isinstance(rule, Own):
        raise Error(f"{rule.name} needs losses: give them as losses=")


__all__ = ["Rule", "direction", "weights"]
