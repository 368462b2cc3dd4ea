// Package npz writes arrays to files that numpy.load reads, and reads those that numpy.savez
// writes: zip archives of .npy files (NEP 1). Begin with [Write] or [Open].
package npz

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// Array is an array. To be written, Data is a []float32, []float64, []int32 or []uint8 with as many
// entries as Shape says; the last index of the array changes fastest.
type Array struct {
	Shape []int
	Data  any
}

// Write writes named arrays to a file. The file appears only when it is complete.
func Write(path string, arrays map[string]Array) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		archive := zip.NewWriter(w)
		for _, name := range slices.Sorted(maps.Keys(arrays)) {
			// Stored, not deflated: gradients and pixels hardly shrink.
			f, err := archive.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
			if err != nil {
				return err
			}
			if err := write(f, arrays[name]); err != nil {
				return err
			}
		}
		return archive.Close()
	})
}

func write(w io.Writer, a Array) error {
	kind, n := "", 0
	switch d := a.Data.(type) {
	case []float32:
		kind, n = "<f4", len(d)
	case []float64:
		kind, n = "<f8", len(d)
	case []int32:
		kind, n = "<i4", len(d)
	case []uint8:
		kind, n = "|u1", len(d)
	}
	size, dims := 1, ""
	for _, d := range a.Shape {
		size *= d
		dims += fmt.Sprintf("%d, ", d)
	}
	if kind == "" || size != n {
		panic(fmt.Sprintf("npz: an array of the shape %v with %d entries of a %T", a.Shape, n, a.Data))
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, dims)
	const prefix = 10                                 // magic string, version, length
	pad := 63 - (prefix+len(header))%64               // the whole header is a multiple of 64 bytes
	header += strings.Repeat(" ", pad) + "\n"         // and ends with a line feed
	head := append([]byte("\x93NUMPY\x01\x00"), 0, 0) // then its length
	binary.LittleEndian.PutUint16(head[8:], uint16(len(header)))
	if _, err := w.Write(append(head, header...)); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, a.Data)
}
