// Package backend opens the compute backend that everything else runs on: XLA on an NVIDIA GPU,
// XLA on the CPU, or pure Go.
//
// With the name "auto", [Open] takes the first one that works, in that order, and says in [Info] which one it
// took and why. The XLA CPU plugin is installed into the user's cache folder when it is first used. Each
// process compares it with its known SHA-256 before loading it, and installs it again if it is damaged.
// Without a network, on another platform or without cgo, the pure-Go backend is used.
//
// XLA runs on linux/amd64, where all of it is tested; on linux/arm64 on the CPU, where the plugin's
// installation, its loading and small programs were tested under emulation; and on darwin/arm64 on the
// CPU, with a plugin file that [Options].Plugin names, since OpenXLA publishes none. That last one has only
// been compiled.
package backend

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/plural"
)

// The names that [Options].Name takes, in the order in which [Auto] tries them.
const (
	Auto    = "auto"
	XLACUDA = "xla-cuda"
	XLACPU  = "xla-cpu"
	Go      = "go"
)

// More threads, devices or clients than these are typing errors: no machine has them.
const maxCount = 1024

// EnvSeparate is the environment variable that, where it is not empty, keeps the memory of the XLA CPU
// backend separate from the host's, as a GPU's is: for tests on a machine without a GPU.
const EnvSeparate = "PARALLELCL_SEPARATE_MEMORY"

// Options say which backend to open and how. The zero value opens the best one available.
type Options struct {
	// Name is "auto" (or empty), "xla-cuda", "xla-cpu" or "go".
	Name string
	// Threads is the size of the XLA CPU thread pool. 0 means 1, which is the fastest for models
	// of the size of an MLP; large convolutional networks gain from more. XLA starts at least one
	// thread per device. The GPU and the pure-Go backend (which follows GOMAXPROCS) ignore it.
	Threads int
	// Clients is the number of XLA CPU clients to open. Each has its own thread pool and computes
	// at the same time as the others, which is how several small programs use several cores: see
	// [Backend.Clients]. 0 means one for each core (GOMAXPROCS), up to 8, or a single one if Threads, Devices or
	// [EnvSeparate] are given. The GPU and the pure-Go backend ignore it.
	Clients int
	// Vectors says which vector instructions XLA uses on a CPU: [Native] (or empty) or [AVX2]. A process keeps to what its
	// first client used. Processors without AVX-512, the GPU and the pure-Go backend ignore it.
	Vectors string
	// TF32 lets a GPU round the factors of float32 products to 10 bits. Products and convolutions become
	// faster, parameters and sums stay in float32, and the conflict between gradients is known less exactly. Without it,
	// NVIDIA_TF32_OVERRIDE=0 is set for the process, unless the variable has a value; NVIDIA's libraries read it once.
	TF32 bool
	// Devices is the number of devices to open; 0 means 1.
	Devices int
	// CacheDir is where plugins are installed; empty means "parallelcl" in the user's cache folder.
	CacheDir string
	// Plugin is a PJRT plugin file to use instead of searching for or installing one.
	Plugin string
	// NoInstall forbids downloads.
	NoInstall bool
	// Progress receives progress bars and notices; nil means silence.
	Progress io.Writer
}

// Info describes an open backend.
type Info struct {
	Name          string   `json:"name"`                     // "xla-cuda", "xla-cpu" or "go"
	Platform      string   `json:"platform"`                 // "cuda", "cpu" or "go"
	Plugin        string   `json:"plugin,omitempty"`         // the plugin's file
	PluginVersion string   `json:"plugin_version,omitempty"` // its PJRT C API version, as "0.81"
	Device        string   `json:"device"`                   // the processor or the GPU
	Vectors       string   `json:"vectors,omitempty"`        // the widest vector instructions of XLA on a CPU, as "AVX-512"
	Reason        string   `json:"reason"`                   // why this one
	Threads       int      `json:"threads"`                  // number of computing threads, of each client
	Clients       int      `json:"clients,omitempty"`        // number of clients, if there are several
	Devices       int      `json:"devices"`                  // number of open devices
	Choices       []Choice `json:"choices,omitempty"`        // every backend, and why it was or was not used
}

// Choice says, for one backend, whether [Open] could and did use it, and why.
type Choice struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Used      bool   `json:"used"`
	Reason    string `json:"reason"`
}

// String is one line: name, device, threads and the reason.
func (i Info) String() string {
	s := fmt.Sprintf("%s (%s, %s", i.Name, i.Device, plural.Of(i.Threads, "thread"))
	if i.Clients > 1 {
		s += " in each of " + plural.Of(i.Clients, "client")
	}
	if i.Devices > 1 {
		s += ", " + plural.Of(i.Devices, "device")
	}
	return s + "): " + i.Reason
}

// Backend is an open compute backend and its description. Close it when none of its tensors and executables
// is needed any more.
type Backend struct {
	compute.Backend
	Info  Info
	more  []compute.Backend // clients after the first
	close sync.Once
}

// Close releases the backend. Closing it twice, or closing nil, does nothing.
func (b *Backend) Close() (err error) {
	if b == nil || b.Backend == nil {
		return nil
	}
	b.close.Do(func() {
		defer recoverTo(&err, "close backend "+b.Info.Name)
		for _, c := range b.Clients() {
			c.Finalize()
		}
	})
	return err
}

// Open opens the backend that o names. With the name "auto" it tries XLA on CUDA, XLA on the CPU and pure Go
// in this order; Info.Choices has the ones that it did not take, and why. A backend, or a plugin file, that
// was asked for by name is never replaced by another one: if it fails, that is the error.
func Open(ctx context.Context, o Options) (*Backend, error) {
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	return open(ctx, o, drivers())
}

// mostClients is for how many cores clients are opened by default: a step has few rows, and each client compiles for itself.
const mostClients = 8

// clients returns the number of XLA CPU clients.
func (o Options) clients() int {
	if o.Clients > 0 {
		return o.Clients
	}
	if o.Threads > 0 || o.Devices > 1 || os.Getenv(EnvSeparate) != "" {
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
	for i, n := range []int{o.Threads, o.Devices, o.Clients} {
		if n < 0 || n > maxCount {
			return o, fmt.Errorf("backend %s = %d; want 0 (the default) to %d", []string{"threads", "devices", "clients"}[i], n, maxCount)
		}
	}
	if !slices.Contains([]string{"", Native, AVX2}, o.Vectors) {
		return o, fmt.Errorf("backend vectors = %q; want %s or %s", o.Vectors, Native, AVX2)
	}
	o.Devices = max(o.Devices, 1)
	if o.Clients > 1 && o.Devices > 1 {
		return o, fmt.Errorf("backend clients = %d with %d devices: several of one or of the other", o.Clients, o.Devices)
	}
	switch {
	case o.Plugin != "" && o.Name == Go:
		return o, fmt.Errorf("plugin %s: the backend %q uses no plugin", o.Plugin, Go)
	case o.Plugin != "" && o.Name == Auto:
		o.Name = pluginKind(o.Plugin)
	}
	if o.CacheDir == "" {
		// Only an installation needs the folder, so its absence is an error there and not here.
		o.CacheDir, _ = DefaultCacheDir()
	}
	return o, nil
}

// recoverTo turns a panic in one of the libraries into an error that says what was being done.
func recoverTo(err *error, doing string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: the compute library panicked: %v", doing, p)
	}
}
