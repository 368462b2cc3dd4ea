package npz

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// File is an .npz file that is open for reading. Close it when it is no longer needed.
type File struct {
	archive *zip.ReadCloser
	size    int64 // of the file
	limit   int64
}

// Open opens a file. An array of more than limit bytes is refused.
func Open(path string, limit int64) (*File, error) {
	archive, err := zip.OpenReader(path)
	if errors.Is(err, zip.ErrFormat) {
		return nil, fmt.Errorf("%s: not an .npz file (numpy.savez writes them): %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	f := &File{archive, 0, limit}
	info, err := os.Stat(path)
	if err == nil {
		f.size, err = info.Size(), f.once(path)
	}
	if err != nil {
		archive.Close()
		return nil, err
	}
	return f, nil
}

// once returns an error if two arrays have the same name: some programs read the first, others the last.
func (f *File) once(path string) error {
	seen := map[string]bool{}
	for _, m := range f.archive.File {
		if seen[m.Name] {
			return fmt.Errorf("%s: %s is in it twice; want one array of each name", path, m.Name)
		}
		seen[m.Name] = true
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.archive.Close() }

// Names returns the names of the arrays, in alphabetical order.
func (f *File) Names() []string {
	var names []string
	for _, m := range f.archive.File {
		if name, ok := strings.CutSuffix(m.Name, ".npy"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Read reads the array of that name. Its data are a []uint8, []int64, []float32, []float64 or []string: bytes, other
// whole numbers and truth values, numbers of half and single precision, of double precision, and texts.
func (f *File) Read(name string) (Array, error) {
	for _, m := range f.archive.File {
		if m.Name != name+".npy" {
			continue
		}
		a, err := f.read(m)
		if err != nil {
			return a, fmt.Errorf("array %s: %w", name, err)
		}
		return a, nil
	}
	return Array{}, fmt.Errorf("there is no array %s; the arrays are %s", name, strings.Join(f.Names(), ", "))
}

func (f *File) read(m *zip.File) (Array, error) {
	r, err := m.Open()
	if err != nil {
		return Array{}, err
	}
	defer r.Close()
	h, err := readHeader(r)
	if err != nil {
		return Array{}, err
	}
	n := 1
	for _, d := range append([]int{h.kind.Size}, h.shape...) {
		if d > 0 && int64(n) > f.limit/int64(d) {
			return Array{}, fmt.Errorf("the shape %v has more than %d bytes", h.shape, f.limit)
		}
		n *= d
	}
	// Both are known before memory is taken for what a header promises.
	if packed := min(m.CompressedSize64, uint64(f.size)); uint64(n) > min(m.UncompressedSize64, maxShrink*packed) {
		return Array{}, fmt.Errorf("the shape %v needs %d bytes, and there are fewer: the file is cut off", h.shape, n)
	} else if uint64(n) > usualShrink*packed && n/h.kind.Size*max(h.kind.Size, entryBytes) > freeBytes {
		return Array{}, fmt.Errorf("%d bytes unpack to %d, more than %d times as many; save it with numpy.savez if that is meant", packed, n, usualShrink)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		return Array{}, fmt.Errorf("the data end early or are damaged: %w", err)
	}
	if _, err := io.Copy(io.Discard, io.LimitReader(r, 1)); err != nil { // which compares the checksum
		return Array{}, err
	}
	values, err := h.kind.Decode(data)
	return Array{h.shape, values}, err
}

const (
	maxShrink   = 1100     // nothing deflates to less than this part of itself
	usualShrink = 100      // of data, which are not all alike
	freeBytes   = 64 << 20 // of memory may come of anything, such as labels that are sorted
	entryBytes  = 16       // that a label takes in memory at least
)

// header is what the beginning of a .npy file says.
type header struct {
	shape []int
	kind  Kind
}

var (
	descrKey = regexp.MustCompile(`'descr':\s*'([^']*)'`)
	orderKey = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	shapeKey = regexp.MustCompile(`'shape':\s*\(([0-9, ]*)\)`)
)

func readHeader(r io.Reader) (h header, err error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil || string(head[:6]) != "\x93NUMPY" {
		return h, errors.New("not a .npy array")
	}
	length := make([]byte, 2)
	if head[6] >= 2 {
		length = make([]byte, 4)
	}
	if _, err := io.ReadFull(r, length); err != nil {
		return h, err
	}
	n := int64(binary.LittleEndian.Uint16(length))
	if len(length) == 4 {
		n = int64(binary.LittleEndian.Uint32(length))
	}
	if n > 1<<16 {
		return h, fmt.Errorf("a header of %d bytes", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, err
	}
	descr, order, shape := descrKey.FindSubmatch(text), orderKey.FindSubmatch(text), shapeKey.FindSubmatch(text)
	if descr == nil || order == nil || shape == nil {
		return h, fmt.Errorf("it has named fields or a header that is not understood: %.80q", text)
	}
	if h.kind, err = KindOf(string(descr[1])); err != nil {
		return h, err
	}
	for field := range strings.SplitSeq(string(shape[1]), ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		d, err := strconv.Atoi(field)
		if err != nil {
			return h, fmt.Errorf("the shape (%s): %w", shape[1], err)
		}
		h.shape = append(h.shape, d)
	}
	if string(order[1]) == "True" && len(h.shape) > 1 {
		return h, errors.New("it is stored in Fortran's order: save numpy.ascontiguousarray(x) instead")
	}
	return h, nil
}
