package npz

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A header is the beginning of a .npy file.
type header struct {
	shape   []int
	entries kind
	columns bool // Fortran's order: the first index changes fastest
}

const maxHeader = 1 << 16 // bytes; NumPy's own have some hundreds

// readHeader reads what NumPy reads (NEP 1): a Python literal that describes the array.
func readHeader(r io.Reader) (h header, err error) {
	var head struct {
		Magic   [6]byte
		Version [2]byte
		Length  uint16 // of the text; from version 2 on it has four bytes
	}
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil || string(head.Magic[:]) != "\x93NUMPY" {
		return h, errors.New("not a .npy array")
	}
	n := uint32(head.Length)
	switch head.Version[0] {
	case 1:
	case 2, 3:
		var high uint16
		if err := binary.Read(r, binary.LittleEndian, &high); err != nil {
			return h, err
		}
		n |= uint32(high) << 16
	default:
		return h, fmt.Errorf("version %d of the .npy format; want 1 to 3", head.Version[0])
	}
	if n > maxHeader {
		return h, fmt.Errorf("a header of %d bytes; want at most %d", n, maxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, fmt.Errorf("its header is cut off: %w", err)
	}
	v, err := parseLiteral(string(text))
	if err != nil {
		return h, fmt.Errorf("its header %.80q: %w; load the array with NumPy and save it again", text, err)
	}
	return h, h.fill(v)
}

// fill takes what a header says.
func (h *header) fill(v any) error {
	d, ok := v.(map[string]any)
	if !ok {
		return errors.New("its header is not a dictionary; want one with descr, fortran_order and shape")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if _, ok := d[key]; !ok {
			return fmt.Errorf("its header has no %s", key)
		}
	}
	if len(d) != 3 {
		return errors.New("its header has other keys than descr, fortran_order and shape")
	}
	if h.columns, ok = d["fortran_order"].(bool); !ok {
		return fmt.Errorf("fortran_order is %v; want True or False", d["fortran_order"])
	}
	dims, ok := d["shape"].(tuple)
	if !ok {
		return fmt.Errorf("its shape %v is not a tuple, which NumPy refuses too: write (40, 3) for 40×3, and "+
			"(40,) for 40", d["shape"])
	}
	for _, x := range dims {
		n, ok := x.(int)
		if !ok || n < 0 {
			return fmt.Errorf("its shape has %v; want whole numbers from 0", x)
		}
		h.shape = append(h.shape, n)
	}
	descr, ok := d["descr"].(string)
	if !ok {
		return errors.New("its entries have named fields or a shape of their own: save each field, x[\"name\"], as an array")
	}
	var err error
	h.entries, err = kindOf(descr)
	return err
}

// rowMajor returns the entries in the order in which the last index changes fastest.
func (h *header) rowMajor(data []byte) []byte {
	if !h.columns || len(h.shape) < 2 || len(data) == 0 {
		return data
	}
	size, out := h.entries.size, make([]byte, 0, len(data))
	at, step := make([]int, len(h.shape)), make([]int, len(h.shape)) // an index, and what 1 more of it is in data
	for k, n := 0, size; k < len(step); k++ {
		step[k] = n
		n *= h.shape[k]
	}
	for from := 0; len(out) < len(data); {
		out = append(out, data[from:from+size]...)
		for k := len(at) - 1; k >= 0; k-- {
			at[k]++
			from += step[k]
			if at[k] < h.shape[k] {
				break
			}
			from -= at[k] * step[k]
			at[k] = 0
		}
	}
	return out
}
