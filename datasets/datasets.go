package datasets

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// EnvDir is the environment variable that names the data folder.
const EnvDir = "PARALLELCL_DATA"

// A Split is one part of a data set: N images and their labels.
type Split struct {
	Pixels []uint8 // N·H·W·C bytes: row-major, channels last
	Labels []int32 // N class indices
}

// Len returns the number of images.
func (s *Split) Len() int { return len(s.Labels) }

// A Dataset is an image set in memory.
type Dataset struct {
	Name    string // the name it was opened by
	Title   string // for people; it says so if the set is not the whole official one
	Note    string // how it was made from the files that were there; may be empty
	Source  string // where it comes from
	Licence string // its terms in one line
	Cite    string // the publication to cite

	Height, Width, Channels int
	Classes                 []string // class names in label order
	Train, Test             Split
}

// ImageSize returns the number of bytes of one image, H·W·C.
func (d *Dataset) ImageSize() int { return d.Height * d.Width * d.Channels }

// Image returns the pixels of image i of a split of d, H·W·C bytes that alias split.Pixels. Like a slice
// expression it panics if i is out of range.
func (d *Dataset) Image(split *Split, i int) []uint8 {
	n := d.ImageSize()
	return split.Pixels[i*n : (i+1)*n : (i+1)*n]
}

// Validate checks that sizes, pixels, labels and class names of d fit together. Open returns
// valid sets only; call it on a set that you fill yourself.
func (d *Dataset) Validate() error {
	if d.Height <= 0 || d.Width <= 0 || (d.Channels != 1 && d.Channels != 3) {
		return fmt.Errorf("datasets: %s: image size %d×%d×%d: want positive sides and 1 or 3 channels", d.Name, d.Height, d.Width, d.Channels)
	}
	if len(d.Classes) == 0 {
		return fmt.Errorf("datasets: %s: no classes", d.Name)
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
	if want := s.Len() * d.ImageSize(); len(s.Pixels) != want {
		return fmt.Errorf("datasets: %s: the %s split has %d pixel bytes for %d labels of %d×%d×%d images: want %d", d.Name, name,
			len(s.Pixels), s.Len(), d.Height, d.Width, d.Channels, want)
	}
	for i, l := range s.Labels {
		if l < 0 || int(l) >= len(d.Classes) {
			return fmt.Errorf("datasets: %s: %s label %d is %d: want 0 to %d", d.Name, name, i, l, len(d.Classes)-1)
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
	if dir := os.Getenv(EnvDir); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("datasets: no data folder: set %s: %w", EnvDir, err)
	}
	return filepath.Join(cache, "parallelcl", "data"), nil
}

// Open reads the set called name into memory; List has the names. It never downloads: if files are missing,
// the error says which, where they were looked for, and which command fetches them (it matches [ErrMissing]).
func Open(ctx context.Context, name string, o Options) (*Dataset, error) {
	e, err := find(name)
	if err != nil {
		return nil, err
	}
	dir, err := o.dir()
	if err != nil && len(e.Files) > 0 {
		return nil, err
	}
	d := &Dataset{Name: e.Name, Title: e.Title, Source: e.Source, Licence: e.Licence, Cite: e.Cite,
		Height: e.Height, Width: e.Width, Channels: e.Channels}
	if err := e.open(ctx, d, dir, o); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("datasets: open %s: %w", name, err)
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return d, nil
}

func find(name string) (*entry, error) {
	names := make([]string, len(catalog))
	for i := range catalog {
		if catalog[i].Name == name {
			return &catalog[i], nil
		}
		names[i] = catalog[i].Name
	}
	return nil, fmt.Errorf("datasets: no set is called %q: the names are %s", name, strings.Join(names, ", "))
}
