// Package checkpoint writes and reads the files in which a run is saved. A file holds a state in JSON and named
// arrays of float32, and ends with a checksum of everything before it, so that a damaged file is recognised
// before any of it is used. Begin with [Save] and [Load]; [Series] keeps the last few checkpoints of a run.
//
//	"PCLCKPT1" · length of header (uint64) · header (JSON) · arrays · SHA-256
//
// All numbers are little-endian.
package checkpoint

import (
	"bytes"
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
)

const magic = "PCLCKPT1"

// ErrDamaged marks the error for a file that is not a complete, unaltered checkpoint.
var ErrDamaged = errors.New("damaged checkpoint")

// File is the content of a checkpoint.
type File struct {
	State  json.RawMessage
	Arrays map[string][]float32
}

type header struct {
	State  json.RawMessage `json:"state"`
	Arrays []array         `json:"arrays"`
}

type array struct {
	Name string `json:"name"`
	Len  int    `json:"len"`
}

// Save writes f to a temporary file and then renames it to path.
func Save(path string, f File) error {
	var h header
	h.State = f.State
	names := slices.Sorted(maps.Keys(f.Arrays))
	for _, name := range names {
		h.Arrays = append(h.Arrays, array{name, len(f.Arrays[name])})
	}
	head, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return atomicfile.Write(path, func(out io.Writer) error {
		sum := sha256.New()
		w := io.MultiWriter(out, sum)
		prefix := binary.LittleEndian.AppendUint64([]byte(magic), uint64(len(head)))
		if _, err := w.Write(append(prefix, head...)); err != nil {
			return err
		}
		for _, name := range names {
			if _, err := w.Write(encode(f.Arrays[name])); err != nil {
				return err
			}
		}
		_, err := out.Write(sum.Sum(nil))
		return err
	})
}

// Load reads and checks a checkpoint. For a damaged file the error is [ErrDamaged] and says what is wrong.
func Load(path string) (File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	f, err := decode(data)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// decode reads a checkpoint from memory.
func decode(data []byte) (File, error) {
	const least = len(magic) + 8 + sha256.Size
	if len(data) < least || string(data[:len(magic)]) != magic {
		return File{}, fmt.Errorf("%w: %d bytes that do not begin as a checkpoint does", ErrDamaged, len(data))
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return File{}, fmt.Errorf("%w: the checksum does not match; the file was cut off or altered", ErrDamaged)
	}
	body = body[len(magic):]
	n := binary.LittleEndian.Uint64(body)
	body = body[8:]
	if n > uint64(len(body)) {
		return File{}, fmt.Errorf("%w: a header of %d bytes in a file of %d", ErrDamaged, n, len(data))
	}
	var h header
	if err := json.Unmarshal(body[:n], &h); err != nil {
		return File{}, fmt.Errorf("%w: header: %w", ErrDamaged, err)
	}
	return h.read(body[n:])
}

func (h header) read(body []byte) (File, error) {
	f := File{State: h.State, Arrays: map[string][]float32{}}
	for _, a := range h.Arrays {
		if a.Len < 0 || a.Len > len(body)/4 {
			return File{}, fmt.Errorf("%w: array %q of %d entries in %d bytes", ErrDamaged, a.Name, a.Len, len(body))
		}
		f.Arrays[a.Name] = make([]float32, a.Len)
		if _, err := binary.Decode(body, binary.LittleEndian, f.Arrays[a.Name]); err != nil {
			return File{}, err
		}
		body = body[4*a.Len:]
	}
	if len(body) != 0 {
		return File{}, fmt.Errorf("%w: %d bytes too many", ErrDamaged, len(body))
	}
	return f, nil
}

func encode(x []float32) []byte {
	out, _ := binary.Append(nil, binary.LittleEndian, x) // of numbers there is no error
	return out
}

// Sum returns the SHA-256 of arrays in hexadecimal. Two models, or two memories, are the same if their sums are.
func Sum(arrays ...[]float32) string {
	h := sha256.New()
	for _, x := range arrays {
		h.Write(encode(x))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
