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
	d.Test, err = f.split(dir, f.test)
	markSubset(d, f.trainSamples, f.testSamples)
	return err
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
	d.Note = fmt.Sprintf("train (%d images) and test (%d) are a stratified 80/20 split, seed %d, of the official "+
		"test file; the official training images are not used, so accuracies do not compare with the literature's",
		d.Train.Len(), d.Test.Len(), test80Seed)
	if all.Len() != f.testSamples {
		d.Title += fmt.Sprintf(" (subset: %d images)", all.Len())
		d.Note = join(fmt.Sprintf("the files hold %d of %d official test images", all.Len(), f.testSamples), d.Note)
	}
	return nil
}

// split reads the images and the labels of a split.
func (f idxFormat) split(dir, prefix string) (s Split, err error) {
	const side = 28
	images, _ := locate(dir, prefix+"-images-idx3-ubyte.gz")
	labels, _ := locate(dir, prefix+"-labels-idx1-ubyte.gz")
	shape, pixels, err := readIDX(images, 3)
	if err != nil {
		return s, err
	}
	_, raw, err := readIDX(labels, 1)
	if err != nil {
		return s, err
	}
	if shape[1] != side || shape[2] != side {
		return s, fmt.Errorf("%s: images are %d×%d; want %d×%[4]d", images, shape[1], shape[2], side)
	}
	if shape[0] != len(raw) {
		return s, fmt.Errorf("%s: it has %d images, but %s %d labels", images, shape[0], filepath.Base(labels), len(raw))
	}
	s = Split{Pixels: pixels, Labels: make([]int32, len(raw))}
	for i, l := range raw {
		if int(l) >= len(f.classes) {
			return s, fmt.Errorf("%s: label %d is %d; want 0 to %d", labels, i, l, len(f.classes)-1)
		}
		s.Labels[i] = int32(l)
	}
	if f.transposed {
		transpose(pixels, side)
	}
	return s, nil
}

// list returns how many images or labels a file claims, and a function that reads it completely.
func (idxFormat) list(path string, f File) (c content, err error) {
	err = withFile(path, anySize, func(file *os.File, size int64) error {
		in, _, err := unpackedIDX(bufio.NewReader(file), size)
		if err != nil {
			return err
		}
		shape, _, err := idxHeader(in, idxDims(f.Path))
		if err != nil {
			return err
		}
		c = content{shape[0], []string{path}, func(context.Context) error {
			_, _, err := readIDX(path, len(shape))
			return err
		}}
		return nil
	})
	return c, err
}

// keepEMNIST returns the name under which a member of EMNIST's archive is kept, and whether it is:
// only those of ByClass are.
func keepEMNIST(member string) (string, bool) {
	base := path.Base(member)
	return base, path.Dir(member) == "gzip" && strings.HasPrefix(base, "emnist-byclass-")
}

// maxDeflateRatio is the most by which Deflate can shrink data: the size of a gzip file bounds what
// it holds, so a header's claim can be checked before memory is reserved for it.
const maxDeflateRatio = 1032

// maxIDXBytes bounds one IDX file: EMNIST ByClass, the largest, has 547 MB.
const maxIDXBytes int64 = 1<<31 - 1

// readIDX reads an IDX file of unsigned bytes with the wanted number of dimensions, plain or gzip.
func readIDX(path string, dims int) (shape []int, data []byte, err error) {
	err = withFile(path, anySize, func(f *os.File, size int64) (err error) {
		shape, data, err = decodeIDX(f, size, dims)
		return err
	})
	return shape, data, err
}

// decodeIDX reads an IDX stream out of size bytes, which are gzip if they start like gzip.
func decodeIDX(r io.Reader, size int64, dims int) (shape []int, data []byte, err error) {
	in, most, err := unpackedIDX(bufio.NewReaderSize(r, 1<<16), size)
	if err != nil {
		return nil, nil, err
	}
	shape, n, err := idxHeader(in, dims)
	if err != nil {
		return nil, nil, err
	}
	if n > most {
		return nil, nil, fmt.Errorf("idx header claims %v, %d bytes, but a file of %d bytes cannot hold that: it is "+
			"cut short or damaged", shape, n, size)
	}
	data = make([]byte, n)
	if got, err := io.ReadFull(in, data); err != nil {
		return nil, nil, fmt.Errorf("idx data ends after %d of %d bytes, the file is cut short or damaged: %w", got, n, err)
	}
	// reading to the end makes gzip compare its checksum
	more, err := io.Copy(io.Discard, io.LimitReader(in, 1))
	if err == nil && more > 0 {
		err = fmt.Errorf("idx data goes on after the %d bytes that the header %v claims: the file is damaged", n, shape)
	}
	return shape, data, err
}

// unpackedIDX returns a reader of the data, unpacked if in starts like gzip, and the most bytes
// that it can yield.
func unpackedIDX(in *bufio.Reader, size int64) (r io.Reader, most int64, err error) {
	if start, _ := in.Peek(2); string(start) != "\x1f\x8b" {
		return in, size, nil
	}
	r, err = gzip.NewReader(in)
	return r, min(size, math.MaxInt64/maxDeflateRatio) * maxDeflateRatio, err
}

// idxDims is how many dimensions the data of a file has, by its name: those of images or of labels.
func idxDims(name string) int {
	if strings.Contains(name, "-images-") {
		return 3
	}
	return 1
}

// idxHeader reads the magic number and the dimensions; n is their product.
func idxHeader(r io.Reader, dims int) (shape []int, n int64, err error) {
	head := make([]uint32, 1+dims)
	if err := binary.Read(r, binary.BigEndian, head); err != nil {
		return nil, 0, fmt.Errorf("idx header is cut short or damaged: %w", err)
	}
	if want := uint32(0x800 + dims); head[0] != want { // unsigned bytes
		return nil, 0, fmt.Errorf("not an idx file of bytes with %d dimensions: it starts with %08x, "+
			"want %08x", dims, head[0], want)
	}
	n = 1
	for _, d := range head[1:] {
		if d == 0 || n > maxIDXBytes/int64(d) {
			return nil, 0, fmt.Errorf("idx dimensions %v; want none of 0, and at most %d bytes", head[1:], maxIDXBytes)
		}
		shape, n = append(shape, int(d)), n*int64(d)
	}
	return shape, n, nil
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
