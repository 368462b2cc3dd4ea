package datasets

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

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

// idxNames returns the two files of an IDX split, such as emnist/emnist-byclass-test-*.
func idxNames(prefix string) (images, labels string) {
	return prefix + "-images-idx3-ubyte.gz", prefix + "-labels-idx1-ubyte.gz"
}

// openIDX reads the split whose files start with prefix.
func openIDX(dir, prefix string, classes int, transposed bool) (Split, error) {
	images, labels := idxNames(prefix)
	ipath, _ := locate(dir, images)
	lpath, _ := locate(dir, labels)
	return readIDXSplit(ipath, lpath, 28, classes, transposed)
}
