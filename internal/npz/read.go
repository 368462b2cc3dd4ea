package npz

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
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
	info, err := os.Stat(path)
	if err != nil {
		archive.Close()
		return nil, err
	}
	return &File{archive, info.Size(), limit}, nil
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
	n, size := 1, int(f.limit)
	for _, d := range h.shape {
		if d < 0 || d > 0 && n > size/d {
			return Array{}, fmt.Errorf("the shape %v has more than %d bytes", h.shape, f.limit)
		}
		n *= d
	}
	if n > size/h.kind.size {
		return Array{}, fmt.Errorf("the shape %v has more than %d bytes", h.shape, f.limit)
	}
	// Nothing shrinks to less than a thousandth, so this is known before memory is taken for what a header promises.
	if uint64(n*h.kind.size) > min(m.UncompressedSize64, 1100*min(m.CompressedSize64, uint64(f.size))) {
		return Array{}, fmt.Errorf("the shape %v needs %d bytes, and there are fewer: the file is cut off", h.shape, n*h.kind.size)
	}
	data := make([]byte, n*h.kind.size)
	if _, err := io.ReadFull(r, data); err != nil {
		return Array{}, fmt.Errorf("the data end early or are damaged: %w", err)
	}
	if _, err := io.Copy(io.Discard, io.LimitReader(r, 1)); err != nil { // which compares the checksum
		return Array{}, err
	}
	if err := h.kind.inRange(data); err != nil {
		return Array{}, err
	}
	return Array{h.shape, h.kind.decode(data)}, nil
}

// header is what the beginning of a .npy file says.
type header struct {
	shape []int
	kind  kind
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
	if h.kind, err = kindOf(string(descr[1])); err != nil {
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

// kind is the type of an array's entries.
type kind struct {
	size   int // bytes
	decode func([]byte) any
	// unsigned is the order of the bytes of whole numbers that may be too large for an int64; nil for others.
	unsigned binary.ByteOrder
}

// inRange returns an error if a number is too large for an int64.
func (k kind) inRange(data []byte) error {
	for i := 0; k.unsigned != nil && i < len(data); i += k.size {
		if v := k.unsigned.Uint64(data[i:]); v > math.MaxInt64 {
			return fmt.Errorf("entry %d is %d, and whole numbers go up to %d: save labels as int64 and samples as floats", i/k.size, v, math.MaxInt64)
		}
	}
	return nil
}

// kindOf returns the type that a description such as "<f4" means.
func kindOf(descr string) (k kind, err error) {
	refused := fmt.Errorf("entries of type %q: want whole numbers, floats, truth values or texts", descr)
	if len(descr) < 3 {
		return k, refused
	}
	order, letter := binary.ByteOrder(binary.LittleEndian), descr[1]
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	n, err := strconv.Atoi(descr[2:])
	if err != nil || n < 1 || n > 1<<16 {
		return k, refused
	}
	switch {
	case letter == 'u' && n == 1:
		return kind{size: 1, decode: func(b []byte) any { return b }}, nil
	case letter == 'U':
		return kind{size: 4 * n, decode: func(b []byte) any { return texts(b, 4*n, func(b []byte) string { return wide(b, order) }) }}, nil
	case letter == 'S':
		return kind{size: n, decode: func(b []byte) any {
			return texts(b, n, func(b []byte) string { return strings.TrimRight(string(b), "\x00") })
		}}, nil
	}
	if whole := wholeNumber(letter, n, order); whole != nil {
		k = kind{size: n, decode: func(b []byte) any { return each(b, n, whole) }}
		if letter == 'u' && n == 8 {
			k.unsigned = order
		}
		return k, nil
	}
	if letter != 'f' {
		return k, refused
	}
	switch n {
	case 2:
		return kind{size: 2, decode: func(b []byte) any { return each(b, 2, func(b []byte) float32 { return Half(order.Uint16(b)) }) }}, nil
	case 4:
		return kind{size: 4, decode: func(b []byte) any {
			return each(b, 4, func(b []byte) float32 { return math.Float32frombits(order.Uint32(b)) })
		}}, nil
	case 8:
		return kind{size: 8, decode: func(b []byte) any {
			return each(b, 8, func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) })
		}}, nil
	}
	return k, refused
}

// wholeNumber returns a function that reads one whole number or truth value, or nil.
func wholeNumber(letter byte, size int, order binary.ByteOrder) func([]byte) int64 {
	switch string(letter) + strconv.Itoa(size) {
	case "b1":
		return func(b []byte) int64 {
			if b[0] != 0 { // any other byte is true, too
				return 1
			}
			return 0
		}
	case "i1":
		return func(b []byte) int64 { return int64(int8(b[0])) }
	case "i2":
		return func(b []byte) int64 { return int64(int16(order.Uint16(b))) }
	case "u2":
		return func(b []byte) int64 { return int64(order.Uint16(b)) }
	case "i4":
		return func(b []byte) int64 { return int64(int32(order.Uint32(b))) }
	case "u4":
		return func(b []byte) int64 { return int64(order.Uint32(b)) }
	case "i8", "u8": // too large ones were refused by inRange
		return func(b []byte) int64 { return int64(order.Uint64(b)) }
	}
	return nil
}

func each[T any](data []byte, size int, one func([]byte) T) []T {
	out := make([]T, len(data)/size)
	for i := range out {
		out[i] = one(data[i*size : (i+1)*size])
	}
	return out
}

func texts(data []byte, size int, one func([]byte) string) []string { return each(data, size, one) }

// wide decodes a text of four bytes for each character, padded with zeros. What is no character leaves a text that is not
// valid UTF-8, so that two of them are not taken for the same.
func wide(b []byte, order binary.ByteOrder) string {
	var s strings.Builder
	for ; len(b) >= 4; b = b[4:] {
		c := order.Uint32(b)
		if !utf8.ValidRune(rune(c)) {
			s.WriteByte(0xff)
		} else if c != 0 {
			s.WriteRune(rune(c))
		}
	}
	return s.String()
}

// Half is the number that the bits of a float16 stand for.
func Half(bits uint16) float32 {
	sign, exponent, fraction := float32(1), int(bits>>10&31), float32(bits&1023)
	if bits>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * fraction / (1 << 24)
	case 31:
		if fraction == 0 {
			return sign * float32(math.Inf(1))
		}
		return float32(math.NaN())
	}
	return sign * float32(math.Ldexp(1+float64(fraction)/1024, exponent-15))
}
