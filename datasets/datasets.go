package datasets

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// envDir is the environment variable that names the data folder.
const envDir = "PARALLELCL_DATA"

// A Split is one part of a data set: N samples, images or vectors, and their labels. Their values are either bytes,
// where a byte b stands for b/255, or numbers that are taken as they are: one of Pixels and Values is set, and it is
// the same one in both splits of a set.
type Split struct {
	Pixels []uint8   // N·H·W·C bytes: row-major, channels last
	Values []float32 // as many numbers, all finite
	Labels []int32   // N class indices
}

// Len returns the number of samples.
func (s *Split) Len() int { return len(s.Labels) }

// A Dataset is a set of images or vectors in memory.
type Dataset struct {
	Name    string // the name it was opened by
	Title   string // for people; it says so if the set is not the whole official one
	Note    string // how it was made from the files that were there; may be empty
	Source  string // where it comes from
	Licence string // its terms in one line
	Cite    string // the publication to cite
	SHA256  string // of the files of a user's own set, or of a part of the official files of a set of the catalogue ([Info])

	// The size of the images. A set of vectors has the length Vector instead, and no height, width and channels.
	Height, Width, Channels int
	Vector                  int
	Classes                 []string // class names in label order
	Train, Test             Split
}

// ImageSize returns how many values a sample has: H·W·C for an image.
func (d *Dataset) ImageSize() int {
	if d.Vector > 0 {
		return d.Vector
	}
	return d.Height * d.Width * d.Channels
}

// Size is the size of the samples for people: "28×28×1", or "512" for vectors.
func (d *Dataset) Size() string { return sizeOf(d.Height, d.Width, d.Channels, d.Vector) }

func sizeOf(height, width, channels, vector int) string {
	if vector > 0 {
		return fmt.Sprint(vector)
	}
	return fmt.Sprintf("%d×%d×%d", height, width, channels)
}

// things is what the samples are.
func (d *Dataset) things() string {
	if d.Vector > 0 {
		return "vectors"
	}
	return "images"
}

// Image returns the pixels of image i of a split of d, H·W·C bytes that alias split.Pixels. Like a slice
// expression it panics if i is out of range, and also if the samples are numbers and not bytes (see [Split]).
func (d *Dataset) Image(split *Split, i int) []uint8 {
	n := d.ImageSize()
	return split.Pixels[i*n : (i+1)*n : (i+1)*n]
}

// numbers returns the values of sample i, which alias split.Values.
func (d *Dataset) numbers(split *Split, i int) []float32 {
	n := d.ImageSize()
	return split.Values[i*n : (i+1)*n : (i+1)*n]
}

// Validate checks that sizes, pixels, labels and class names of d fit together. Open returns
// valid sets only; call it on a set that you fill yourself.
func (d *Dataset) Validate() error {
	switch {
	case d.Vector < 0 || d.Vector > 0 && (d.Height != 0 || d.Width != 0 || d.Channels != 0):
		return fmt.Errorf("datasets: %s: vectors of %d and images of %d×%d×%d: want one of them", d.Name, d.Vector, d.Height, d.Width, d.Channels)
	case d.Vector == 0 && (d.Height <= 0 || d.Width <= 0 || (d.Channels != 1 && d.Channels != 3)):
		return fmt.Errorf("datasets: %s: image size %d×%d×%d: want positive sides and 1 or 3 channels", d.Name, d.Height, d.Width, d.Channels)
	case len(d.Classes) == 0:
		return fmt.Errorf("datasets: %s: no classes", d.Name)
	case (d.Train.Values == nil) != (d.Test.Values == nil):
		return fmt.Errorf("datasets: %s: one split has bytes and the other has numbers", d.Name)
	}
	if err := d.validateSplit("train", &d.Train); err != nil {
		return err
	}
	return d.validateSplit("test", &d.Test)
}

func (d *Dataset) validateSplit(name string, s *Split) error {
	if s.Len() == 0 {
		return fmt.Errorf("datasets: %s: the %s split is empty", d.Name, name)
	}
	values := max(len(s.Pixels), len(s.Values))
	switch {
	case s.Values != nil && s.Pixels != nil:
		return fmt.Errorf("datasets: %s: the %s split has both bytes and numbers", d.Name, name)
	case values != s.Len()*d.ImageSize():
		return fmt.Errorf("datasets: %s: the %s split has %d values for %d %s of %s; want %d", d.Name, name, values, s.Len(), d.things(), d.Size(), s.Len()*d.ImageSize())
	}
	for i, l := range s.Labels {
		if l < 0 || int(l) >= len(d.Classes) {
			return fmt.Errorf("datasets: %s: %s label %d is %d: want 0 to %d", d.Name, name, i, l, len(d.Classes)-1)
		}
	}
	for i, v := range s.Values {
		if v-v != 0 { // NaN or infinite
			return fmt.Errorf("datasets: %s: value %d of %s sample %d is %g: want numbers of at most %.2g", d.Name, i%d.ImageSize(), name, i/d.ImageSize(), v, math.MaxFloat32)
		}
	}
	return nil
}

// Options say where the data is and where to report progress. The zero value is ready to use.
type Options struct {
	Dir      string    // data folder; "" means DefaultDir
	Seed     uint64    // seed of generated sets (glyphs); sets read from files do not depend on it
	Progress io.Writer // progress of Fetch; nil means silence
}

func (o Options) dir() (string, error) {
	if o.Dir != "" {
		return o.Dir, nil
	}
	return DefaultDir()
}

// DefaultDir returns $PARALLELCL_DATA, or parallelcl/data in the user's cache folder.
func DefaultDir() (string, error) {
	if dir := os.Getenv(envDir); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("datasets: no data folder: set %s: %w", envDir, err)
	}
	return filepath.Join(cache, "parallelcl", "data"), nil
}

// Open reads the set called name into memory; List has the names. Other names are a user's own files
// ("folder:photos?size=32x32"; docs/data.md). It never downloads: if files are missing,
// the error says which, where they were looked for, and which command fetches them (it matches [ErrMissing]). A name
// that stands for no set is an [ErrName].
func Open(ctx context.Context, name string, o Options) (*Dataset, error) {
	e, err := find(name)
	if err != nil {
		return nil, err
	}
	dir, err := o.dir()
	if err != nil && len(e.Files) > 0 {
		return nil, err
	}
	before, _ := e.part(ctx, dir) // files that cannot be read are named by what opens them
	d := &Dataset{Name: e.Name, Title: e.Title, Source: e.Source, Licence: e.Licence, Cite: e.Cite,
		Height: e.Height, Width: e.Width, Channels: e.Channels, Vector: e.Vector}
	if err := e.load(ctx, d, dir, o); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("datasets: open %s: %w", name, err)
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	if e.format == nil {
		return d, nil
	}
	if d.SHA256, err = e.part(ctx, dir); err != nil {
		return nil, err
	}
	if d.SHA256 != before {
		return nil, fmt.Errorf("datasets: open %s: %w", name, errChanged)
	}
	return d, nil
}

func (e *entry) load(ctx context.Context, d *Dataset, dir string, o Options) error {
	if e.format == nil {
		return e.open(ctx, d, o)
	}
	if err := e.require(dir); err != nil {
		return err
	}
	return e.format.open(ctx, d, dir)
}
