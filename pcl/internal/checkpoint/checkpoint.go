// Package checkpoint writes and reads the files in which a run is saved. A file holds a state in JSON and named
// arrays of float32, and ends with a checksum of everything before it, so that a damaged file is recognised
// before any of it is used.
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
	"os"
	"slices"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/fail"
)

const magic = "PCLCKPT1"

// ErrDamaged marks the error for a file that is not a complete, unaltered checkpoint.
var ErrDamaged = errors.New("damaged checkpoint")

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

// Load reads and checks a checkpoint. For a damaged file the error is [ErrDamaged] and says what is wrong.
func Load(path string) (state json.RawMessage, arrays map[string][]float32, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if err = fail.Tried(func() { state, arrays = decode(data) }); err != nil {
		err = fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	return state, arrays, err
}

func decode(data []byte) (state json.RawMessage, arrays map[string][]float32) {
	const least = len(magic) + 8 + sha256.Size
	fail.When(len(data) < least || !bytes.HasPrefix(data, []byte(magic)), "%d bytes that do not begin as a checkpoint does", len(data))
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	got := sha256.Sum256(body)
	fail.When(!bytes.Equal(got[:], sum), "the checksum does not match; the file was cut off or altered")
	n := binary.LittleEndian.Uint64(body[len(magic):])
	body = body[len(magic)+8:]
	fail.When(n > uint64(len(body)), "a header of %d bytes in a file of %d", n, len(data))
	var h header
	err := json.Unmarshal(body[:n], &h)
	fail.When(err != nil, "header: %w", err)
	return h.State, h.read(body[n:])
}

func (h header) read(body []byte) map[string][]float32 {
	arrays := map[string][]float32{}
	for _, a := range h.Arrays {
		fail.When(a.Len < 0 || a.Len > len(body)/4, "array %q of %d entries in %d bytes", a.Name, a.Len, len(body))
		arrays[a.Name] = make([]float32, a.Len)
		fail.Or(binary.Decode(body, binary.LittleEndian, arrays[a.Name]))
		body = body[4*a.Len:]
	}
	fail.When(len(body) != 0, "%d bytes too many", len(body))
	return arrays
}
