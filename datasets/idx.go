package datasets

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// An idxFormat is a set of two IDX files, images and labels, for each of its splits.
type idxFormat struct {
	train, test               string // how the names of the files begin
	classes                   string // their names, a letter each
	transposed                bool   // images are stored with columns first
	trainSamples, testSamples int    // of the official files
}

var (
	// The labels of EMNIST ByClass are in this order.
	emnistFormat = idxFormat{"emnist/emnist-byclass-train", "emnist/emnist-byclass-test",
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", true, emnistTrainSamples, emnistTestSamples}
	mnistFormat = idxFormat{"mnist/train", "mnist/t10k", "0123456789", false, mnistTrainSamples, mnistTestSamples}
)

func (f idxFormat) open(_ context.Context, d *Dataset, dir string) (err error) {
	d.Classes = strings.Split(f.classes, "")
	if d.Train, err = f.split(dir, f.train); err != nil {
		return err
	}
	if d.Test, err = f.split(dir, f.test); err != nil {
		return err
	}
	markSubset(d, f.trainSamples, f.testSamples)
	return nil
}

// test80 makes training and test samples of the official test files.
type test80 struct{ idxFormat }

// The split is part of what the names of these sets mean, so its seed is fixed.
const (
	test80Seed     = 80
	test80Fraction = 0.8
)

func (f test80) open(_ context.Context, d *Dataset, dir string) error {
	all, err := f.split(dir, f.test)
	if err != nil {
		return err
	}
	d.Classes = strings.Split(f.classes, "")
	d.divide(all, test80Fraction, test80Seed)
	d.Note = fmt.Sprintf("train (%d images) and test (%d) are a stratified 80/20 split, seed %d, of the official test file; the official training images are not used, so accuracies do not compare with the literature's",
		d.Train.Len(), d.Test.Len(), test80Seed)
	if all.Len() != f.testSamples {
		d.Title += fmt.Sprintf(" (subset: %d images)", all.Len())
		d.Note = join(fmt.Sprintf("the files hold %d of %d official test images", all.Len(), f.testSamples), d.Note)
	}
	return nil
}

// split reads the images and the labels of a split.
func (f idxFormat) split(dir, prefix string) (Split, error) {
	images, _ := locate(dir, prefix+"-images-idx3-ubyte.gz")
	labels, _ := locate(dir, prefix+"-labels-idx1-ubyte.gz")
	return readIDXSplit(images, labels, 28, len(f.classes), f.transposed)
}

func (idxFormat) check(_ context.Context, path string, f File) (int, error) {
	dims, _, err := readIDX(path, idxDims(f.Path))
	if err != nil {
		return 0, err
	}
	return dims[0], nil
}

func (idxFormat) count(path string, f File) (int, []string, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer file.Close()
	in, _, err := unpackedIDX(bufio.NewReader(file))
	if err != nil {
		return 0, nil, err
	}
	dims, _, err := idxHeader(in, idxDims(f.Path))
	if err != nil {
		return 0, nil, err
	}
	return dims[0], []string{path}, nil
}

// keepEMNIST takes the ByClass files out of the archive that holds all EMNIST sets.
func keepEMNIST(member string) (string, bool) {
	base := path.Base(member)
	return base, path.Dir(member) == "gzip" && strings.HasPrefix(base, "emnist-byclass-")
}

// Deflate cannot shrink data by more than this, so a gzip file bounds what it holds and a
// header's claim can be checked before memory is reserved for it.
const maxDeflateRatio = 1032

// maxIDXBytes bounds one IDX file: EMNIST ByClass, the largest, has 547 MB.
const maxIDXBytes = 1<<31 - 1

// readIDX reads an IDX file of unsigned bytes with the wanted number of dimensions, plain or gzip.
func readIDX(path string, wantDims int) (dims []int, data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	dims, data, err = decodeIDX(f, info.Size(), wantDims)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return dims, data, nil
}

// decodeIDX reads an IDX stream out of size bytes, which are gzip if they start like gzip.
func decodeIDX(r io.Reader, size int64, wantDims int) (dims []int, data []byte, err error) {
	in, packed, err := unpackedIDX(bufio.NewReaderSize(r, 1<<16))
	if err != nil {
		return nil, nil, err
	}
	limit := size
	if packed {
		limit = min(size, math.MaxInt64/maxDeflateRatio) * maxDeflateRatio
	}
	dims, n, err := idxHeader(in, wantDims)
	if err != nil {
		return nil, nil, err
	}
	if n > limit {
		return nil, nil, fmt.Errorf("idx header claims %v, %d bytes, but a file of %d bytes cannot hold that: it is cut short or damaged", dims, n, size)
	}
	data = make([]byte, n)
	if got, err := io.ReadFull(in, data); err != nil {
		return nil, nil, fmt.Errorf("idx data ends after %d of %d bytes, the file is cut short or damaged: %w", got, n, err)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		if err != nil {
			return nil, nil, fmt.Errorf("after the idx data: %w", err)
		}
		return nil, nil, fmt.Errorf("idx data goes on after the %d bytes that the header %v claims: the file is damaged", n, dims)
	}
	return dims, data, nil
}

// unpackedIDX returns what is to be read: in itself or, if that starts like gzip, what is packed in it.
func unpackedIDX(in *bufio.Reader) (r *bufio.Reader, packed bool, err error) {
	if start, err := in.Peek(2); err != nil || start[0] != 0x1f || start[1] != 0x8b {
		return in, false, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, false, fmt.Errorf("gzip header: %w", err)
	}
	return bufio.NewReaderSize(z, 1<<16), true, nil
}

// idxDims is how many dimensions the data of a file has, by its name: those of images or of labels.
func idxDims(name string) int {
	if strings.Contains(name, "-images-") {
		return 3
	}
	return 1
}

// idxHeader reads the magic number and the dimensions; n is their product.
func idxHeader(r io.Reader, wantDims int) (dims []int, n int64, err error) {
	var magic [4]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return nil, 0, fmt.Errorf("idx header is cut short or damaged: %w", err)
	}
	if magic[0] != 0 || magic[1] != 0 || magic[2] != 8 || int(magic[3]) != wantDims {
		return nil, 0, fmt.Errorf("not an idx file of bytes with %d dimensions: it starts with % x, want 00 00 08 %02x", wantDims, magic, wantDims)
	}
	n = 1
	for range wantDims {
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, 0, fmt.Errorf("idx dimensions are cut short or damaged: %w", err)
		}
		d := int64(binary.BigEndian.Uint32(b[:]))
		dims = append(dims, int(d))
		if d == 0 {
			return nil, 0, fmt.Errorf("idx dimensions %v: none may be 0", dims)
		}
		if n > maxIDXBytes/d {
			return nil, 0, fmt.Errorf("idx dimensions %v: more than %d bytes", dims, int64(maxIDXBytes))
		}
		n *= d
	}
	return dims, n, nil
}

// readIDXSplit reads an images file and its labels file.
func readIDXSplit(images, labels string, side, classes int, transposed bool) (Split, error) {
	ldims, raw, err := readIDX(labels, 1)
	if err != nil {
		return Split{}, err
	}
	dims, pixels, err := readIDX(images, 3)
	if err != nil {
		return Split{}, err
	}
	if dims[1] != side || dims[2] != side {
		return Split{}, fmt.Errorf("%s: images are %d×%d: want %d×%d", images, dims[1], dims[2], side, side)
	}
	if dims[0] != ldims[0] {
		return Split{}, fmt.Errorf("%s has %d images but %s has %d labels", images, dims[0], filepath.Base(labels), ldims[0])
	}
	s := Split{Pixels: pixels, Labels: make([]int32, len(raw))}
	for i, l := range raw {
		if int(l) >= classes {
			return Split{}, fmt.Errorf("%s: label %d is %d: want 0 to %d", labels, i, l, classes-1)
		}
		s.Labels[i] = int32(l)
	}
	if transposed {
		transpose(pixels, side)
	}
	return s, nil
}

// transpose swaps rows and columns of every side×side image in place.
func transpose(pixels []byte, side int) {
	for ; len(pixels) > 0; pixels = pixels[side*side:] {
		for y := range side {
			for x := range y {
				a, b := y*side+x, x*side+y
				pixels[a], pixels[b] = pixels[b], pixels[a]
			}
		}
	}
}
