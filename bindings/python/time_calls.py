"""Times calls from Python with a Gram matrix of K gradients: python time_calls.py [--quick]

Beside the whole call, it times its parts: the library alone, without Python's share, is `bindings/c/testdata/smoke.c`
with the argument time.
"""

import sys
import timeit

import numpy as np

from parallelcl import Rule, _library


def best(call, quick, number=200):
    """The least mean time of a call, in µs, of many short rounds: other programs do not disturb all of them."""
    return min(timeit.repeat(call, number=number, repeat=3 if quick else 300)) / number * 1e6


def main():
    quick = "--quick" in sys.argv
    generator = np.random.default_rng(0)
    for k in (2, 5, 20):
        jacobian = generator.normal(size=(k, 50)) + 0.3
        gram = jacobian @ jacobian.T
        for name in ("avggrad", "mgda", "emgd-gmc", "emgd-gs", "emgd-log", "upgrad"):
            rule = Rule(name)
            print(f"K = {k:2}  {name:9} {best(lambda: rule.weights(gram), quick):8.2f} µs")
    rule = Rule("emgd-gmc")
    for columns in (1000, 100_000):
        jacobian = generator.normal(size=(5, columns))
        n = 200_000 // columns
        given, product = best(lambda: rule.weights(jacobian=jacobian), quick, n), best(lambda: rule.weights(jacobian @ jacobian.T), quick, n)
        print(f"5 × {columns}  from the Jacobian {given:8.1f} µs, from NumPy's J @ J.T {product:8.1f} µs")
    parts(quick)


def parts(quick):
    """What a call consists of besides the rule: avggrad has almost nothing to do."""
    rule, gram = Rule("avggrad"), np.eye(5)
    rule.weights(gram)
    b = rule._buffers[5, 5]

    def copy_in():
        b.gram[...] = gram

    print("of it, at K = 5:")
    for what, call in {
        "into the library and back, by ctypes": lambda: _library.quick_weights(rule._handle, b.pointer),
        "the Gram matrix in": copy_in,
        "the weights out": lambda: b.weights.copy(),
        "a Python function that does nothing": lambda: None,
    }.items():
        print(f"  {what:38} {best(call, quick):6.2f} µs")
    rule.weights(gram)
    print(f"  {'the certificate and the rest, if asked':38} {best(lambda: rule.last.certificate, quick):6.2f} µs")


if __name__ == "__main__":
    main()
