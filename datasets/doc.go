// Package datasets opens the image data sets of the Parallel Continual Learning benchmark, and
// downloads and verifies their files. It also opens files of a user's own, and sets that a program
// has registered ([Register]).
//
// [Open] reads a set by name from a data folder ($PARALLELCL_DATA unless Options.Dir says
// otherwise):
//
//	glyphs                 62 characters, 28×28 grey, generated: needs no file (package glyphs)
//	glyphs-tune            the same with other draws and weaker distortions, to choose parameters on
//	emnist-byclass         62 characters, 28×28 grey, official train and test files
//	emnist-byclass-test80  the official EMNIST test file alone, split 80/20 per class
//	mnist                  10 digits, 28×28 grey
//	mnist-test80           the MNIST test file alone, split 80/20 per class
//	cifar-10               10 classes, 32×32 RGB
//	cifar-100              100 fine classes, 32×32 RGB
//	tiny-imagenet          200 classes, 64×64 RGB; the validation set is the test split
//	tiny-imagenet-32       the same at half the resolution, 32×32
//
// Files are sets too, under these names; docs/data.md has their parameters, such as
// "folder:photos?size=32x32":
//
//	folder:PATH            images, one folder for each class
//	npz:PATH               arrays of images or vectors, as numpy.savez writes them
//	safetensors:PATH       the same as tensors
//	csv:PATH               a table of numbers with a column of classes
//
// Pixels are bytes in row-major order with channels last (N, H, W, C); labels are class indices.
// Nothing is normalised: the benchmark divides by 255 and does nothing else. Samples that are
// numbers (Split.Values) are taken as they are, unless the name asks for normalise=standard or
// normalise=length.
//
// # Formats
//
// IDX (EMNIST, MNIST): two zero bytes, a type byte (8 is unsigned byte), the number of
// dimensions, each dimension as a big-endian uint32, the bytes; plain or gzip. EMNIST stores each
// image transposed (columns first); Open turns them upright.
//
// CIFAR binary: records of [label, 3072 bytes] (CIFAR-10) or [coarse, fine, 3072 bytes]
// (CIFAR-100), the pixels as three 32×32 planes R, G, B.
//
// Tiny ImageNet: train/WNID/images/*.JPEG, val/images/*.JPEG with val/val_annotations.txt;
// wnids.txt gives the order of the classes and words.txt their names. Grey JPEGs become RGB. The
// decoder is Go's image/jpeg, whose colours may differ from libjpeg's by a few levels.
//
// # Sources
//
// Open never touches the network; [Fetch] downloads from the publishers' own addresses and
// [Verify] compares what is there with the published checksums. [List] has the addresses,
// checksums, licences and citations. The sets themselves are not part of this module: each has
// its own terms.
package datasets
