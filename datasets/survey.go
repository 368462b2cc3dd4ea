package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/internal/ctxio"
)

// surveys keeps what was found out about files, until they change: a grid asks for each of its rows.
var surveys = struct {
	sync.Mutex
	found map[string]survey
}{found: map[string]survey{}}

type survey struct {
	stamp string
	info  Info
}

// A surveyor looks at files.
type surveyor interface {
	// stamp changes when the files do: names, sizes and times, without reading them.
	stamp(ctx context.Context) (string, error)
	// survey fills in what [Inspect] returns.
	survey(ctx context.Context, i *Info) error
}

// surveyed completes what is known about a set from its files, which name tells apart from those of other sets.
func surveyed(ctx context.Context, name string, info Info, files surveyor) (Info, error) {
	wd, err := os.Getwd() // on which a relative path depends
	if err != nil {
		return info, err
	}
	key := wd + "\n" + name
	stamp, err := files.stamp(ctx)
	if err != nil {
		return info, err
	}
	surveys.Lock()
	known, ok := surveys.found[key]
	surveys.Unlock()
	if ok && known.stamp == stamp {
		return known.info, nil
	}
	if err := files.survey(ctx, &info); err != nil {
		return info, err
	}
	surveys.Lock()
	defer surveys.Unlock()
	surveys.found[key] = survey{stamp, info}
	return info, nil
}

// unchanged calls read, which reads files more than once, and returns an error if they changed meanwhile: their checksum
// would be that of other samples.
func unchanged(ctx context.Context, files surveyor, read func() error) error {
	before, err := files.stamp(ctx)
	if err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	after, err := files.stamp(ctx)
	if err == nil && after != before {
		err = errChanged
	}
	return err
}

var errChanged = errors.New("the files changed while they were read: open them again when they are complete")

// stampOf is the [own.stamp] of single files.
func stampOf(paths ...string) (string, error) {
	stamp := ""
	for _, path := range paths {
		info, err := statFile(path)
		if err != nil {
			return "", err
		}
		stamp += fmt.Sprintf("%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	}
	return stamp, nil
}

// sumFiles returns the SHA-256 of the files, one after another.
func sumFiles(ctx context.Context, paths ...string) (string, error) {
	h := sha256.New()
	for _, path := range paths {
		if err := sumFile(ctx, h, path); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sumFile writes a file, after its length, to h.
func sumFile(ctx context.Context, h io.Writer, path string) error {
	info, err := statFile(path)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintf(h, "%d\n", info.Size())
	_, err = io.Copy(h, ctxio.Reader(ctx, f))
	return err
}

// onAllCores calls do with the numbers below n, on all cores, until one returns an error or ctx ends. Each core has a do of
// its own, which worker returns.
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
