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
	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/internal/fail"
)

const (
	maxOwnBytes = 16 << 30      // of all samples of a user's own set
	anySize     = math.MaxInt64 // of a file of which no more is read than it promises
)

// withFile opens a regular file of at most most bytes, since opening a pipe would wait for its writer. Errors name the file.
func withFile(path string, most int64, read func(f *os.File, size int64)) {
	info := fail.Or(os.Stat(path))
	fail.When(!info.Mode().IsRegular(), "%s is a folder or a device; want a file", path)
	fail.When(info.Size() > most, "%s has %d bytes; want at most %d", path, info.Size(), most)
	f := fail.Or(os.Open(path))
	defer f.Close()
	defer fail.At(path)
	read(f, info.Size())
}

func readFile(path string, most int64) (data []byte) {
	withFile(path, most, func(f *os.File, size int64) {
		data = make([]byte, size)
		fail.Or(io.ReadFull(f, data))
	})
	return data
}

// A source is what a set is read from.
type source interface {
	// stamp changes when the files do: it has names, sizes and times. It is empty if there are no files, or not all. What
	// cannot be read has a stamp too: survey and open, which are called after it, say why.
	stamp(ctx context.Context) string
	// survey fills in what the files say, as far as [Info] has it.
	survey(ctx context.Context, i *Info)
	// open fills in the set.
	open(ctx context.Context, d *Dataset)
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

// surveys keeps what was found out about files, until they change: a grid asks for each of its rows.
var surveys = struct {
	sync.Mutex
	found map[string]survey
}{found: map[string]survey{}}

type survey struct {
	stamp string
	info  Info
}

// surveyed completes what is known about a set from its files.
func surveyed(ctx context.Context, i Info, s source) Info {
	stamp := s.stamp(ctx)
	if stamp != "" {
		stamp += fail.Or(os.Getwd()) // on which a relative path depends
	}
	surveys.Lock()
	known := surveys.found[i.Name]
	surveys.Unlock()
	if stamp != "" && known.stamp == stamp {
		return known.info
	}
	s.survey(ctx, &i)
	i.Image = sizeOf(i.Height, i.Width, i.Channels, i.Vector)
	surveys.Lock()
	defer surveys.Unlock()
	surveys.found[i.Name] = survey{stamp, i}
	return i
}

// unchanged opens a set, and ends with an error if its files changed meanwhile: their checksum would be that of other samples.
func unchanged(ctx context.Context, s source, d *Dataset) {
	before := s.stamp(ctx)
	s.open(ctx, d)
	if s.stamp(ctx) != before {
		fail.If(errors.New("the files changed while they were read: open them again when they are complete"))
	}
}

// sumFiles returns the SHA-256 of the files, one after another, each after its length.
func sumFiles(ctx context.Context, paths ...string) string {
	h := sha256.New()
	for _, path := range paths {
		withFile(path, anySize, func(f *os.File, size int64) {
			fmt.Fprintf(h, "%d\n", size)
			fail.Or(io.Copy(h, ctxio.Reader(ctx, f)))
		})
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// checkSum compares a file with its SHA-256.
func checkSum(ctx context.Context, path, want string) {
	got := fail.Or(download.Sum(ctx, path))
	fail.When(got != want, "%s: SHA-256 is %s, published is %s", path, got, want)
}

// onAllCores calls do with the numbers below n, on all cores, until one fails or ctx ends. Each core has a do of its own,
// which worker returns.
func onAllCores(ctx context.Context, n int, worker func() (do func(i int))) {
	g, ctx := errgroup.WithContext(ctx)
	workers := min(runtime.GOMAXPROCS(0), n)
	for w := range workers {
		do := worker()
		g.Go(func() (err error) {
			defer fail.Caught(&err)
			for i := w; i < n; i += workers {
				fail.If(ctx.Err())
				do(i)
			}
			return nil
		})
	}
	fail.If(g.Wait())
}
