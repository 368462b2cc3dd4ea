package datasets

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/internal/ctxio"
	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/internal/stamp"
)

const (
	maxOwnBytes = 16 << 30      // of all samples of a user's own set
	anySize     = math.MaxInt64 // of a file of which no more is read than it promises
)

// at puts a place, such as the name of a file, in front of an error.
func at(place string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", place, err)
}

// withFile opens a regular file of at most most bytes. Errors name the file.
func withFile(path string, most int64, read func(f *os.File, size int64) error) error {
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > most {
		return fmt.Errorf("%s has %d bytes; want at most %d", path, info.Size(), most)
	}
	return at(path, read(f, info.Size()))
}

func readFile(path string, most int64) (data []byte, err error) {
	err = withFile(path, most, func(f *os.File, size int64) error {
		data = make([]byte, size)
		_, err := io.ReadFull(f, data)
		return err
	})
	return data, err
}

// A source is what a set is read from.
type source interface {
	// stamp changes when the files do: it has names, sizes and times. It is empty if there are no
	// files, or not all. Files that cannot be read have a stamp too: survey and open, which are
	// called next, say why.
	stamp(ctx context.Context) string
	// survey fills in what the files say, as far as [Info] has it.
	survey(ctx context.Context, i *Info) error
	// open fills in the set. The samples of a user's own set are returned, since they may be
	// doubtful.
	open(ctx context.Context, d *Dataset) (*samples, error)
}

// stampOf is the stamp of single files.
func stampOf(paths ...string) (stamp string) {
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil {
			stamp += fmt.Sprintf("%q %v\n", path, err)
		} else {
			stamp += fmt.Sprintf("%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
	}
	return stamp
}

// surveys keeps what was found out about files, until they change: a grid asks for each of its
// rows.
var surveys = struct {
	sync.Mutex
	found map[string]survey
}{found: map[string]survey{}}

type survey struct {
	stamp string
	info  Info
}

// surveyed completes what is known about a set from its files.
func surveyed(ctx context.Context, i Info, s source) (Info, error) {
	stamp := s.stamp(ctx)
	if stamp != "" {
		dir, err := os.Getwd() // on which a relative path depends
		if err != nil {
			return i, err
		}
		stamp += dir
	}
	surveys.Lock()
	known := surveys.found[i.Name]
	surveys.Unlock()
	if stamp != "" && known.stamp == stamp {
		return known.info, nil
	}
	if err := s.survey(ctx, &i); err != nil {
		return i, err
	}
	i.Image = sizeOf(i.Height, i.Width, i.Channels, i.Vector)
	surveys.Lock()
	defer surveys.Unlock()
	surveys.found[i.Name] = survey{stamp, i}
	return i, nil
}

// unchanged opens a set, and returns an error if its files changed meanwhile: their checksum would
// be that of other samples.
func unchanged(ctx context.Context, s source, d *Dataset) (*samples, error) {
	before := s.stamp(ctx)
	own, err := s.open(ctx, d)
	if err == nil && s.stamp(ctx) != before {
		err = errors.New("the files changed while they were read: open them again when they are complete")
	}
	return own, err
}

// sumFiles returns the SHA-256 of the files, one after another, each after its length.
func sumFiles(ctx context.Context, paths ...string) (string, error) {
	h := sha256.New()
	for _, path := range paths {
		err := withFile(path, anySize, func(f *os.File, size int64) error {
			fmt.Fprintf(h, "%d\n", size)
			_, err := io.Copy(h, ctxio.Reader(ctx, f))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

func checkSum(ctx context.Context, path, want string) error {
	got, err := stamp.Sum(ctx, path)
	if err == nil && got != want {
		err = fmt.Errorf("%s: SHA-256 is %s, published is %s", path, got, want)
	}
	return err
}

// onAllCores calls do with the numbers below n, on all cores, until one fails or ctx ends. Each
// core has a do of its own, which worker returns.
func onAllCores(ctx context.Context, n int, worker func() (do func(i int) error)) error {
	g, ctx := errgroup.WithContext(ctx)
	workers := min(runtime.GOMAXPROCS(0), n)
	for w := range workers {
		do := worker()
		g.Go(func() error {
			for i := w; i < n; i += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}
