// Package backend opens the compute backend that everything else runs on: XLA on an NVIDIA GPU,
// XLA on the CPU, or pure Go.
//
// With the name "auto", [Open] takes the first one that works, in that order, and says in [Info]
// which one it took and why. The XLA CPU plugin is installed into the user's cache folder when it
// is first used. Each process compares it with its known SHA-256 before loading it, and installs it
// again if it is damaged. Without a network, on another platform or without cgo, the pure-Go
// backend is used.
//
// XLA runs on linux/amd64, where all of it is tested, and on linux/arm64 on the CPU, where the
// plugin's installation, its loading and small programs were tested under emulation.
package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// The names that [Options].Name takes, in the order in which [Auto] tries them.
const (
	Auto    = "auto"
	XLACUDA = "xla-cuda"
	XLACPU  = "xla-cpu"
	Go      = "go"
)

// More threads or clients than these are typing errors: no machine has them.
const maxCount = 1024

// envSeparate is the environment variable that, where it is not empty, keeps the memory of the XLA
// CPU backend separate from the host's, as a GPU's is: for tests on a machine without a GPU.
const envSeparate = "PARALLELCL_SEPARATE_MEMORY"

// Options say which backend to open and how. The zero value opens the best one available.
type Options struct {
	// Name is "auto" (or empty), "xla-cuda", "xla-cpu" or "go".
	Name string
	// Threads is the size of the XLA CPU thread pool. 0 means 1, which is the fastest for models
	// of the size of an MLP; large convolutional networks gain from more. The GPU and the pure-Go
	// backend (which follows GOMAXPROCS) ignore it.
	Threads int
	// Clients is the number of XLA CPU clients to open. Each has its own thread pool and computes
	// at the same time as the others, which is how several small programs use several cores: see
	// [Backend.Clients]. 0 means one for each core (GOMAXPROCS), up to 8, or a single one if
	// Threads or PARALLELCL_SEPARATE_MEMORY are given. The GPU and the pure-Go backend ignore it.
	Clients int
	// Nice lowers the priority of the threads that train, from 0 to 19 as the command nice does, so
	// that predictions beside training, and other programs, come first: those of XLA's clients on
	// the CPU, but for those of [Backend.Beside], and those of a learner's Run. Only Linux has
	// threads with priorities of their own; elsewhere it does nothing.
	Nice int
	// Vectors says which vector instructions XLA uses on a CPU: "native" (or empty) or [AVX2]. A
	// process keeps to what its first client used. Processors without AVX-512, the GPU and the
	// pure-Go backend ignore it.
	Vectors string
	// TF32 lets a GPU round the factors of float32 products to 10 bits. Products and convolutions
	// become faster, parameters and sums stay in float32, and the conflict between gradients is
	// known less exactly. Without it, NVIDIA_TF32_OVERRIDE=0 is set for the process, unless the
	// variable has a value; NVIDIA's libraries read it once.
	TF32 bool
	// Verify compares the files of an installed plugin with their SHA-256, where otherwise their
	// sizes and times are compared.
	Verify bool
	// Progress receives progress bars and notices; nil means silence.
	Progress io.Writer

	cache string // the folder in which plugins are installed; empty if there is none
}

// Info describes an open backend.
type Info struct {
	Name          string `json:"name"`                     // "xla-cuda", "xla-cpu" or "go"
	Plugin        string `json:"plugin,omitempty"`         // the plugin's file
	PluginVersion string `json:"plugin_version,omitempty"` // its PJRT C API version, as "0.81"
	Device        string `json:"device"`                   // the processor or the GPU
	Vectors       string `json:"vectors,omitempty"`        // the widest vector instructions of XLA on a CPU, as "AVX-512"
	Reason        string `json:"reason"`                   // why this one
	Threads       int    `json:"threads"`                  // number of computing threads, of each client
	Clients       int    `json:"clients,omitempty"`        // number of clients, if there are several
}

// String is one line: name, device, threads and the reason.
func (i Info) String() string {
	s := fmt.Sprintf("%s (%s, %s", i.Name, i.Device, plural.Of(i.Threads, "thread"))
	if i.Clients > 1 {
		s += " in each of " + plural.Of(i.Clients, "client")
	}
	return s + "): " + i.Reason
}

// Backend is an open compute backend and its description. Close it when none of its tensors and
// executables is needed any more.
type Backend struct {
	compute.Backend
	Info   Info
	more   []compute.Backend // clients after the first
	nice   int
	close  sync.Once
	beside beside
}

// Nice returns by how much the priority of threads that train is to be lower ([Options]).
func (b *Backend) Nice() int { return b.nice }

// Close releases the backend. Closing it twice, or closing nil, does nothing.
func (b *Backend) Close() (err error) {
	if b == nil || b.Backend == nil {
		return nil
	}
	b.close.Do(func() {
		defer recoverTo(&err, "close backend "+b.Info.Name)
		b.beside.close()
		for _, c := range b.Clients() {
			c.Finalize()
		}
	})
	return err
}

// Open opens the backend that o names. With the name "auto" it tries XLA on CUDA, XLA on the CPU
// and pure Go in this order; Info.Reason says why it did not take one. A backend that was asked for
// by name is never replaced by another one: if it fails, that is the error.
func Open(ctx context.Context, o Options) (*Backend, error) {
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	return open(ctx, o, drivers)
}

// driver is one kind of backend.
type driver struct {
	name string
	open func(ctx context.Context, o Options) (*Backend, error)
}

// drivers are in the order of preference.
var drivers = []driver{{XLACUDA, openCUDA}, {XLACPU, openCPU}, {Go, openGo}}

// open tries the drivers that o.Name allows until one works.
func open(ctx context.Context, o Options, all []driver) (*Backend, error) {
	var failed []error
	for _, d := range all {
		if o.Name != Auto && o.Name != d.name {
			continue
		}
		b, err := d.try(ctx, o)
		if ctx.Err() != nil { // a cancelled installation must not look like a backend that does not exist
			b.Close()
			return nil, ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", d.name, err))
			continue
		}
		b.Info.Reason, b.nice = reason(o, failed), o.Nice
		if o.Progress != nil && o.Name == Auto && d.name == Go {
			fmt.Fprintf(o.Progress, "Using the pure-Go backend (slow): %s\n", b.Info.Reason)
		}
		return b, nil
	}
	return nil, fmt.Errorf("backend %w", errors.Join(failed...))
}

// try opens with a driver; panics of the library become errors.
func (d driver) try(ctx context.Context, o Options) (b *Backend, err error) {
	defer recoverTo(&err, "open")
	return d.open(ctx, o)
}

// reason says in one sentence why a backend is the one, after others have failed.
func reason(o Options, failed []error) string {
	if o.Name != Auto {
		return "asked for by name"
	}
	if len(failed) == 0 {
		return "first choice"
	}
	text := "best available"
	for _, err := range failed {
		text += "; " + printable.Line(err.Error())
	}
	return text
}

// mostClients is for how many cores clients are opened by default: a step has few rows, and each
// client compiles for itself.
const mostClients = 8

func (o Options) clients() int {
	if o.Clients > 0 {
		return o.Clients
	}
	if o.Threads > 0 || os.Getenv(envSeparate) != "" {
		return 1
	}
	return min(runtime.GOMAXPROCS(0), mostClients)
}

// checked returns o with its defaults filled in, or says what is wrong with it.
func (o Options) checked() (Options, error) {
	o.Name = cmp.Or(o.Name, Auto)
	if all := []string{Auto, XLACUDA, XLACPU, Go}; !slices.Contains(all, o.Name) {
		return o, fmt.Errorf("unknown backend %q: choose one of %s", o.Name, strings.Join(all, ", "))
	}
	for name, n := range map[string]int{"threads": o.Threads, "clients": o.Clients} {
		if n < 0 || n > maxCount {
			return o, fmt.Errorf("backend %s = %d; want 0 (the default) to %d", name, n, maxCount)
		}
	}
	if o.Nice < 0 || o.Nice > 19 {
		return o, fmt.Errorf("backend nice = %d; want 0 (the default) to 19", o.Nice)
	}
	if !slices.Contains([]string{"", native, AVX2}, o.Vectors) {
		return o, fmt.Errorf("backend vectors = %q; want %s or %s", o.Vectors, native, AVX2)
	}
	if o.cache == "" {
		o.cache, _ = DefaultCacheDir() // only an installation needs it, and says so
	}
	return o, nil
}

// DefaultCacheDir is the folder that has what this library installs, in the user's cache folder.
func DefaultCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no user cache folder: %w", err)
	}
	return filepath.Join(dir, "parallelcl"), nil
}

// recoverTo turns a panic in one of the libraries into an error that says what was being done.
func recoverTo(err *error, doing string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: the compute library panicked: %v", doing, p)
	}
}
