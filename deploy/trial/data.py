"""Writes a small data set in MNIST's format, which a process reads in no time: data.py FOLDER"""

import os
import random
import struct
import sys

CLASSES, EACH, SIDE = 10, 20, 28


def pixel(rng, position, label):
    """Noise, and for each class a pattern of its own."""
    return rng.randrange(100) + (100 if position % CLASSES == label else 0)


def main():
    folder = os.path.join(sys.argv[1], "mnist")
    os.makedirs(folder)
    rng = random.Random(1)
    labels = [i % CLASSES for i in range(CLASSES * EACH)]
    with open(os.path.join(folder, "t10k-images-idx3-ubyte.gz"), "wb") as f:  # not compressed, which is read too
        f.write(struct.pack(">4I", 0x0803, len(labels), SIDE, SIDE))
        for label in labels:
            f.write(bytes(pixel(rng, p, label) for p in range(SIDE * SIDE)))
    with open(os.path.join(folder, "t10k-labels-idx1-ubyte.gz"), "wb") as f:
        f.write(struct.pack(">2I", 0x0801, len(labels)) + bytes(labels))


main()
