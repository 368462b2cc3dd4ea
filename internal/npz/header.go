package npz

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
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
	if compound.Match(text) {
		return h, errors.New("its entries have named fields or a shape of their own: save each field, x[\"name\"], " +
			"as an array")
	}
	said, err := parseHeader(string(text))
	if err != nil {
		return h, fmt.Errorf("its header %.80q: %w; load the array with NumPy and save it again", text, err)
	}
	return h, h.fill(said)
}

var (
	// compound are entries with named fields, or with a shape of their own.
	compound = regexp.MustCompile(`['"]descr['"]\s*:\s*[(\[{]`)
	// entry is a key of a header and its value: a text, a tuple, a list or a word. Python 2 writes
	// a u before texts.
	entry = regexp.MustCompile(`^\s*[uU]?['"](\w+)['"]\s*:\s*` +
		`([uU]?'[^']*'|[uU]?"[^"]*"|\([^)]*\)|\[[^\]]*\]|[^\s,]+)\s*(,|$)\s*`)
	quoted = regexp.MustCompile(`^[uU]?['"](.*)['"]$`)
	// side is a whole number, to which Python 2 adds an L.
	side = regexp.MustCompile(`^(0|[1-9]\d*)[lL]?$`)
)

// parseHeader returns the values of a header as they are written, by their keys. A header is a
// Python dictionary. Of two values of one key the last counts, as in Python.
func parseHeader(text string) (map[string]string, error) {
	rest, opens := strings.CutPrefix(strings.TrimSpace(text), "{")
	rest, closes := strings.CutSuffix(rest, "}")
	if !opens || !closes {
		return nil, errors.New("it is not a dictionary; want one with descr, fortran_order and shape")
	}
	said := map[string]string{}
	for rest = strings.TrimSpace(rest); rest != ""; {
		m := entry.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("%.20q is not understood; want a key, a value and a comma", rest)
		}
		said[m[1]], rest = m[2], rest[len(m[0]):]
	}
	return said, nil
}

// fill takes what a header says.
func (h *header) fill(said map[string]string) (err error) {
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if said[key] == "" {
			return fmt.Errorf("its header has no %s", key)
		}
	}
	if len(said) != 3 {
		return errors.New("its header has other keys than descr, fortran_order and shape")
	}
	switch order := said["fortran_order"]; order {
	case "True":
		h.columns = true
	case "False":
	default:
		return fmt.Errorf("fortran_order is %s; want True or False", order)
	}
	if h.shape, err = parseShape(said["shape"]); err != nil {
		return err
	}
	descr := quoted.FindStringSubmatch(said["descr"])
	if descr == nil {
		return fmt.Errorf("descr is %s; want a text", said["descr"])
	}
	h.entries, err = kindOf(descr[1])
	return err
}

func parseShape(text string) (shape []int, err error) {
	sides := strings.Split(strings.Trim(text, "()"), ",")
	last := strings.TrimSpace(sides[len(sides)-1])
	if text[0] != '(' || len(sides) == 1 && last != "" {
		return nil, fmt.Errorf("its shape %s is not a tuple, which NumPy refuses too: write (40, 3) for 40×3, and "+
			"(40,) for 40", text)
	}
	if last == "" { // behind the comma at the end, or in ()
		sides = sides[:len(sides)-1]
	}
	for _, s := range sides {
		s = strings.TrimSpace(s)
		m := side.FindStringSubmatch(s)
		if m == nil {
			return nil, fmt.Errorf("its shape has %s; want whole numbers from 0", s)
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return nil, err
		}
		shape = append(shape, n)
	}
	return shape, nil
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
