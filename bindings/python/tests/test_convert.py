"""Names of a ResNet-18's tensors. The comparison of logits needs torchvision."""

import unittest

import numpy as np

from parallelcl import Error, convert
from test_loops import missing, needs


def state():
    """A ResNet-18's names with tensors of a few channels, each with values of its own."""
    r, out = np.random.default_rng(0), {}

    def norm(name):
        for kind in ("weight", "bias", "running_mean", "running_var"):
            out[f"{name}.{kind}"] = r.normal(size=4).astype(np.float32)
        out[f"{name}.num_batches_tracked"] = np.array(3)

    def conv(name, size, channels=4):
        out[f"{name}.weight"] = r.normal(size=(4, channels, size, size)).astype(np.float32)

    conv("conv1", 3, 3), norm("bn1")
    for stage in range(1, 5):
        for i in range(2):
            at = f"layer{stage}.{i}"
            conv(at + ".conv1", 3), norm(at + ".bn1"), conv(at + ".conv2", 3), norm(at + ".bn2")
            if stage > 1 and i == 0:
                conv(at + ".downsample.0", 1), norm(at + ".downsample.1")
    out["fc.weight"], out["fc.bias"] = r.normal(size=(5, 4)).astype(np.float32), np.zeros(5, np.float32)
    return out


class Convert(unittest.TestCase):
    def test_names(self):
        theirs = state()
        ours = convert.from_torch(theirs)
        for name in ("stem/conv/weights", "stem/norm/shift", "layer4/1/norm2/scale", "layer2/0/shortcut/conv/weights", "layer2/0/shortcut/norm/variance", "classifier/bias"):
            self.assertIn(name, ours)
        self.assertEqual(len(ours), len([n for n in theirs if "num_batches" not in n]))
        self.assertEqual((ours["stem/conv/weights"].shape, ours["classifier/weights"].shape), ((3, 3, 3, 4), (4, 5)))
        self.assertEqual(ours["layer1/0/conv2/weights"][0, 2, 1, 3], theirs["layer1.0.conv2.weight"][3, 1, 0, 2])
        for want, wrong in {
            "conv1.weight is 5×5; want a stem of 7×7, or of 3×3": {"conv1.weight": np.zeros((4, 3, 5, 5))},
            "blocks.0.weight is not a tensor of a ResNet-18": {"blocks.0.weight": np.zeros(3)},
        }.items():
            with self.subTest(want), self.assertRaisesRegex(Error, want):
                convert.from_torch(wrong)
        self.assertEqual(convert.from_torch({"conv1.weight": np.zeros((4, 3, 7, 7))})["stem/conv/weights"].shape, (7, 7, 3, 4))
        with self.assertRaisesRegex(Error, "dense1/weights is not a tensor of a ResNet-18"):
            convert.to_torch({"dense1/weights": np.zeros(3)})

    @needs("torch")
    def test_back(self):
        theirs = state()
        back = convert.to_torch(convert.from_torch(theirs) | {"nearest_mean/means": np.zeros((2, 4))})
        self.assertEqual(set(back), {n for n in theirs if "num_batches" not in n})
        for name, tensor in back.items():
            np.testing.assert_array_equal(tensor.numpy(), theirs[name])

    @needs("torch")
    def test_torchvision(self):
        if missing("torchvision"):
            self.skipTest("torchvision is not installed")
        import torch
        import torchvision

        for stem in (convert.small_images, lambda net: net):
            a, b = (stem(torchvision.models.resnet18(num_classes=3)).eval() for _ in range(2))
            found = b.load_state_dict(convert.to_torch(convert.from_torch(a.state_dict())), strict=False)
            self.assertTrue(all("num_batches_tracked" in name for name in found.missing_keys) and not found.unexpected_keys)
            x = torch.randn(2, 3, 16, 16)
            torch.testing.assert_close(a(x), b(x), rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
