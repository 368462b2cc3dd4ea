package npz

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/regular"
)

// File is an .npz file that is open for reading. Close it when it is no longer needed.
type File struct {
	in     io.ReaderAt
	size   int64 // of the file
	limit  int64 // on the bytes of one array
	arrays map[string]*zip.File
}

// Open opens a file. An array of more than limit bytes is refused.
func Open(path string, limit int64) (*File, error) {
	in, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	if err != nil {
		in.Close()
		return nil, err
	}
	f, err := NewReader(in, info.Size(), limit)
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// NewReader is like [Open] for the given number of bytes of in, which [File.Close] closes if it can
// be closed.
func NewReader(in io.ReaderAt, size, limit int64) (*File, error) {
	f := &File{in, size, limit, map[string]*zip.File{}}
	z, err := zip.NewReader(in, size)
	if err != nil {
		return nil, fmt.Errorf("not an .npz file that can be read (numpy.savez writes them): %w", err)
	}
	for _, m := range z.File {
		name, ok := strings.CutSuffix(m.Name, ".npy")
		if !ok {
			continue
		}
		if f.arrays[name] != nil { // some programs read the first, others the last
			return nil, fmt.Errorf("%s is in it twice; want one array of each name", name)
		}
		f.arrays[name] = m
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() error {
	if c, ok := f.in.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Names returns the names of the arrays, in alphabetical order.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.arrays)) }

// Read reads the array of that name. Its data are a []uint8, []int64, []float32, []float64 or
// []string: bytes, other whole numbers and truth values, numbers of half and single precision, of
// double precision, and texts.
func (f *File) Read(name string) (Array, error) {
	a, err := f.read(name)
	if err != nil {
		return Array{}, fmt.Errorf("array %s: %w", name, err)
	}
	return a, nil
}

func (f *File) read(name string) (Array, error) {
	m := f.arrays[name]
	if m == nil {
		return Array{}, fmt.Errorf("there is none of this name; the arrays are %s", strings.Join(f.Names(), ", "))
	}
	r, err := m.Open()
	if err != nil {
		return Array{}, err
	}
	defer r.Close()
	h, err := readHeader(r)
	if err != nil {
		return Array{}, err
	}
	n, err := f.bytes(m, h.shape, h.entries)
	if err != nil {
		return Array{}, err
	}
	data := make([]byte, n)
	if _, err = io.ReadFull(r, data); err != nil {
		return Array{}, fmt.Errorf("the data end early or are damaged: %w", err)
	}
	if _, err = io.Copy(io.Discard, io.LimitReader(r, 1)); err != nil { // which compares the checksum
		return Array{}, err
	}
	values, err := h.entries.values(h.rowMajor(data))
	return Array{h.shape, values}, err
}

// bytes returns how many bytes an array has. A header may promise any size, so bytes checks that
// the file can hold so many before memory is allocated for them.
func (f *File) bytes(m *zip.File, shape []int, entries kind) (uint64, error) {
	n := uint64(entries.size)
	for _, d := range shape {
		if d > 0 && n > uint64(f.limit)/uint64(d) {
			return 0, fmt.Errorf("the shape %v has more than %d bytes", shape, f.limit)
		}
		n *= uint64(d)
	}
	packed := min(m.CompressedSize64, uint64(f.size))
	if n > min(m.UncompressedSize64, maxShrink*packed) {
		return 0, fmt.Errorf("the shape %v needs %d bytes, and there are fewer: the file is cut off", shape, n)
	}
	memory := n / uint64(entries.size) * uint64(max(entries.size, entryBytes))
	if n > usualShrink*packed && memory > freeBytes {
		return 0, fmt.Errorf("%d bytes unpack to %d, more than %d times as many; save it with numpy.savez if that "+
			"is meant", packed, n, usualShrink)
	}
	return n, nil
}

const (
	maxShrink   = 1100     // deflate makes nothing smaller than 1/1100 of its size
	usualShrink = 100      // real data shrink less than this; more needs to stay below freeBytes
	freeBytes   = 64 << 20 // an array up to this size in memory may have shrunk by any factor, as sorted labels do
	entryBytes  = 16       // the least that a text takes in memory
)
