package cli

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// tinySet writes a data folder whose mnist-test80 has sixty noisy images of each class, which a
// process reads in no time: the built-in set takes it a second to draw.
func tinySet(t *testing.T) string {
	t.Helper()
	const classes, each, pixels = 10, 60, 28 * 28
	rng := rand.New(rand.NewPCG(3, 4))
	n := classes * each
	images := binary.BigEndian.AppendUint32(nil, 0x0803)
	labels := binary.BigEndian.AppendUint32(nil, 0x0801)
	for _, size := range []int{n, 28, 28} {
		images = binary.BigEndian.AppendUint32(images, uint32(size))
	}
	labels = binary.BigEndian.AppendUint32(labels, uint32(n))
	for i := range n {
		class := i % classes
		labels = append(labels, byte(class))
		for p := range pixels {
			value := rng.IntN(100)
			if p%classes == class {
				value += 100
			}
			images = append(images, byte(value))
		}
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"t10k-images-idx3-ubyte.gz": images, "t10k-labels-idx1-ubyte.gz": labels} {
		path := filepath.Join(dir, "mnist", name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, data, 0o644))
	}
	return dir
}
