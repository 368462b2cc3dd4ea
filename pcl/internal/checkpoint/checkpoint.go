// Package checkpoint writes and reads the files in which a run is saved. A file holds a state in
// JSON and named arrays of float32, and ends with a checksum of everything before it, so that a
// damaged file is recognised before any of it is used.
//
//	"PCLCKPT1" · length of header (uint64) · header (JSON) · arrays · SHA-256
//
// All numbers are little-endian.
package checkpoint

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

const magic = "PCLCKPT1"

type header struct {
	State  json.RawMessage `json:"state"`
	Arrays []array         `json:"arrays"`
}

type array struct {
	Name string `json:"name"`
	Len  int    `json:"len"`
}

// Save writes a checkpoint to a temporary file and then renames it to path.
func Save(path string, state json.RawMessage, arrays map[string][]float32) error {
	h := header{State: state}
	names := slices.Sorted(maps.Keys(arrays))
	for _, name := range names {
		h.Arrays = append(h.Arrays, array{name, len(arrays[name])})
	}
	head, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return atomicfile.Write(path, func(out io.Writer) error {
		sum := sha256.New()
		w := bufio.NewWriter(io.MultiWriter(out, sum)) // which keeps the first error
		w.Write(binary.LittleEndian.AppendUint64([]byte(magic), uint64(len(head))))
		w.Write(head)
		for _, name := range names {
			values, _ := binary.Append(nil, binary.LittleEndian, arrays[name]) // of numbers there is no error
			w.Write(values)
		}
		err := w.Flush()
		_, last := out.Write(sum.Sum(nil))
		return cmp.Or(err, last)
	})
}

// Decode reads a checkpoint. If it is damaged, the error says what is wrong.
func Decode(data []byte) (state json.RawMessage, arrays map[string][]float32, err error) {
	const least = len(magic) + 8 + sha256.Size
	if len(data) < least || !bytes.HasPrefix(data, []byte(magic)) {
		return nil, nil, fmt.Errorf("%d bytes that do not begin as a checkpoint does", len(data))
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	got := sha256.Sum256(body)
	if !bytes.Equal(got[:], sum) {
		return nil, nil, errors.New("the checksum does not match; the file was cut off or altered")
	}
	n := binary.LittleEndian.Uint64(body[len(magic):])
	body = body[len(magic)+8:]
	if n > uint64(len(body)) {
		return nil, nil, fmt.Errorf("a header of %d bytes in a file of %d", n, len(data))
	}
	var h header
	err = json.Unmarshal(body[:n], &h)
	if err != nil {
		return nil, nil, fmt.Errorf("header: %w", err)
	}
	read, err := h.read(body[n:])
	if err != nil {
		return nil, nil, err
	}
	return h.State, read, nil
}

func (h header) read(body []byte) (map[string][]float32, error) {
	arrays := map[string][]float32{}
	for _, a := range h.Arrays {
		if a.Len < 0 || a.Len > len(body)/4 {
			return nil, fmt.Errorf("array %q of %d entries in %d bytes", a.Name, a.Len, len(body))
		}
		arrays[a.Name] = make([]float32, a.Len)
		if _, err := binary.Decode(body, binary.LittleEndian, arrays[a.Name]); err != nil {
			return nil, err
		}
		body = body[4*a.Len:]
	}
	if len(body) != 0 {
		return nil, fmt.Errorf("%d bytes too many", len(body))
	}
	return arrays, nil
}
