package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/printable"
)

// envDir is the environment variable that names the data folder.
const envDir = "PARALLELCL_DATA"

// A Split is one part of a data set: N samples, images or vectors, and their labels. Their values
// are either bytes, where a byte b stands for b/255, or numbers that are taken as they are: one of
// Pixels and Values is set, and it is the same one in both splits of a set.
type Split struct {
	Pixels []uint8   // N·H·W·C bytes: row-major, channels last
	Values []float32 // as many numbers, all finite
	Labels []int32   // N class indices

	files []string // the files of the images, of a folder of the user's own
}

// Len returns the number of samples.
func (s *Split) Len() int { return len(s.Labels) }

// File returns the file of image i of a folder of the user's own; it is empty for other sets.
func (s *Split) File(i int) string {
	if len(s.files) != s.Len() { // the samples were exchanged
		return ""
	}
	return s.files[i]
}

// A Dataset is a set of images or vectors in memory.
type Dataset struct {
	Name    string // the name it was opened by
	Title   string // for people; it says so if the set is not the whole official one
	Note    string // how it was made from the files that were there; may be empty
	Source  string // where it comes from
	Licence string // its terms in one line
	Cite    string // the publication to cite
	// of the files of a user's own set, or of a part of the official files of a set of the
	// catalogue ([Info])
	SHA256 string

	// The size of the images. A set of vectors has the length Vector instead, and no height, width
	// and channels.
	Height, Width, Channels int
	Vector                  int
	// Features, if not empty, says that the samples are the features of pictures: of which backbone
	// and size, such as "efficientnet-lite0:size=224". They are vectors of bytes, codes of package
	// features.
	Features    string
	Classes     []string // class names in label order
	Train, Test Split
}

// UserNote returns a line about how a set of a user's own was made of its files: what was guessed,
// what was left out, and what is doubtful. It is empty for other sets, and where there is nothing
// to say.
func (d *Dataset) UserNote() string {
	if d.Note == "" || Catalogued(d.Name) {
		return ""
	}
	return printable.Line(d.Title) + ": " + printable.Line(d.Note)
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
	switch {
	case vector > 0:
		return fmt.Sprint(vector)
	case height == 0: // it is not known
		return ""
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

// Image returns the pixels of image i of a split of d, H·W·C bytes that alias split.Pixels. Like a
// slice expression it panics if i is out of range, and also if the samples are numbers and not
// bytes (see [Split]).
func (d *Dataset) Image(split *Split, i int) []uint8 {
	n := d.ImageSize()
	return split.Pixels[i*n : (i+1)*n : (i+1)*n]
}

// numbers returns the values of sample i, which alias split.Values.
func (d *Dataset) numbers(split *Split, i int) []float32 {
	n := d.ImageSize()
	return split.Values[i*n : (i+1)*n : (i+1)*n]
}

// validate checks that sizes, pixels, labels and class names of d fit together.
func (d *Dataset) validate() error {
	images := d.Height > 0 && d.Width > 0 && (d.Channels == 1 || d.Channels == 3)
	neither := d.Height == 0 && d.Width == 0 && d.Channels == 0
	switch {
	case d.Vector < 0 || d.Vector > 0 && !neither || d.Vector == 0 && !images:
		return fmt.Errorf("images of %d×%d×%d, vectors of %d; want positive sides and 1 or 3 channels, or else a length",
			d.Height, d.Width, d.Channels, d.Vector)
	case len(d.Classes) == 0:
		return errors.New("no classes")
	case d.Train.Len() == 0:
		return errors.New("the training split has no samples; want at least one")
	case d.Test.Len() == 0:
		return errors.New("the test split has no samples; want at least one")
	case (d.Train.Values == nil) != (d.Test.Values == nil):
		return errors.New("one split has bytes and the other has numbers")
	}
	return cmp.Or(d.validateSplit("train", &d.Train), d.validateSplit("test", &d.Test))
}

func (d *Dataset) validateSplit(name string, s *Split) error {
	values, want := max(len(s.Pixels), len(s.Values)), s.Len()*d.ImageSize()
	switch {
	case s.Values != nil && s.Pixels != nil:
		return fmt.Errorf("the %s split has both bytes and numbers", name)
	case values != want:
		return fmt.Errorf("the %s split has %d values for %d %s of %s; "+
			"want %d", name, values, s.Len(), d.things(), d.Size(), want)
	}
	for i, l := range s.Labels {
		if l < 0 || int(l) >= len(d.Classes) {
			return fmt.Errorf("%s label %d is %d; want 0 to %d", name, i, l, len(d.Classes)-1)
		}
	}
	return nil
}

// Options say where the data is and where to report progress. The zero value is ready to use.
type Options struct {
	Dir      string    // data folder; "" means $PARALLELCL_DATA, or parallelcl/data in the user's cache folder
	Seed     uint64    // seed of generated sets (glyphs); sets read from files do not depend on it
	Progress io.Writer // progress of Fetch; nil means silence
	// what a folder's images are brought to whose name says no size, unless all are alike and
	// small; 0 stands for 32
	Side int
}

func (o Options) dir() (string, error) {
	if o.Dir != "" {
		return o.Dir, nil
	}
	if dir := os.Getenv(envDir); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("datasets: no data folder: set %s: %w", envDir, err)
	}
	return filepath.Join(cache, "parallelcl", "data"), nil
}

// Open reads the set called name into memory; List has the names. Other names are a user's own
// files ("folder:photos?size=32x32"; docs/data.md). It never downloads: if files are missing, the
// error says which, where they were looked for, and which command fetches them (it matches
// [fs.ErrNotExist]). A name that stands for no set is an [ErrName].
func Open(ctx context.Context, name string, o Options) (_ *Dataset, err error) {
	defer finish(ctx, "open "+name, &err)
	e, err := find(name)
	if err != nil {
		return nil, err
	}
	return opened(ctx, e, o)
}

func opened(ctx context.Context, e *entry, o Options) (*Dataset, error) {
	d := &Dataset{Name: e.Name, Title: e.Title, Source: e.Source, Licence: e.Licence, Cite: e.Cite,
		Height: e.Height, Width: e.Width, Channels: e.Channels, Vector: e.Vector}
	s, err := e.from(o)
	if err != nil {
		return nil, err
	}
	own, err := unchanged(ctx, s, d)
	if errors.Is(err, fs.ErrNotExist) && OwnPath(e.Name) != "" {
		err = fmt.Errorf("%w%s", err, nameHint(e.Source))
	}
	if err == nil && own != nil {
		err = own.settle(d)
	}
	return d, cmp.Or(err, d.validate())
}

// finish makes the error of a function of this package say what was done, unless the name was wrong
// or the context has ended.
func finish(ctx context.Context, what string, err *error) {
	switch {
	case ctx.Err() != nil:
		*err = context.Cause(ctx)
	case errors.Is(*err, ErrName):
		*err = fmt.Errorf("datasets: %w", *err)
	case *err != nil:
		*err = fmt.Errorf("datasets: %s: %w", what, *err)
	}
}

// Inspect says what is known about the set of that name: how many classes, of what size, and for
// files of your own also how many training samples and the checksum of the files. For that it reads
// them, but again only if they changed since. Of the official files of a set of the catalogue it
// reads all only if they are not complete.
func Inspect(ctx context.Context, name string, o Options) (_ Info, err error) {
	defer finish(ctx, name, &err)
	e, err := find(name)
	if err != nil {
		return Info{}, err
	}
	s, err := e.from(o)
	if err != nil {
		return Info{}, err
	}
	i, err := surveyed(ctx, e.info(), s)
	if err != nil && e.format != nil {
		return e.info(), nil // Open names the files that cannot be read
	}
	return i, err
}
