package features

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// torchMagic begins the files that PyTorch wrote before version 1.6.
const torchMagic = "\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."

// readTorch reads the tensors of floats of such a file: three pickles about the format, one with
// the names, sizes and places of the tensors, one with the order of these places, and the values.
// most is the length of the file.
func readTorch(r io.Reader, most int64) (*safetensors.File, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	var parts [5]any
	for i := range parts {
		v, err := unpickle(in)
		if err != nil {
			return nil, err
		}
		parts[i] = v
	}
	tensors, ok1 := parts[3].(*dict)
	order, ok2 := parts[4].(*list)
	if parts[1] != 1001 || !ok1 || !ok2 {
		return nil, errPickle
	}
	sizes := map[string]stored{}
	for _, v := range tensors.values {
		if v, ok := v.(view); ok {
			sizes[v.of.key] = v.of
		}
	}
	values := map[string][]float32{}
	for _, key := range order.items {
		of, ok := sizes[fmt.Sprint(key)]
		if !ok {
			return nil, errPickle
		}
		floats, err := readStorage(in, of, most)
		if err != nil {
			return nil, err
		}
		values[of.key] = floats
	}
	f := &safetensors.File{}
	for i, key := range tensors.keys {
		name, ok1 := key.(string)
		v, ok2 := tensors.values[i].(view)
		switch {
		case !ok1 || !ok2:
			return nil, errPickle
		case v.of.kind == floatStorage:
			f.Tensors = append(f.Tensors, safetensors.Tensor{Name: name, Dims: v.shape, Values: v.inOrder(values[v.of.key])})
		}
	}
	return f, nil
}

// readStorage reads the values of one place. It skips values that are not floats.
func readStorage(in *bufio.Reader, of stored, most int64) ([]float32, error) {
	var n int64
	if err := binary.Read(in, binary.LittleEndian, &n); err != nil {
		return nil, cut(err)
	}
	if n != int64(of.size) || n > most/4 {
		return nil, errPickle
	}
	if of.kind == longStorage {
		_, err := in.Discard(8 * of.size)
		return nil, cut(err)
	}
	floats := make([]float32, n)
	return floats, cut(binary.Read(in, binary.LittleEndian, floats))
}

// inOrder returns the values of a tensor with those of the last axis one after the other. PyTorch
// keeps what was made by exchanging axes as it was before.
func (v view) inOrder(stored []float32) []float32 {
	out := make([]float32, len(stored))
	index := make([]int, len(v.shape))
	for i := range out {
		at := 0
		for axis, n := range index {
			at += n * v.strides[axis]
		}
		out[i] = stored[at]
		for axis := len(index) - 1; axis >= 0; axis-- {
			if index[axis]++; index[axis] < v.shape[axis] {
				break
			}
			index[axis] = 0
		}
	}
	return out
}
