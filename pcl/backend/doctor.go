package backend

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/parallelcl/parallelcl/internal/printable"
)

// Report is what [Doctor] found: the machine, the versions, and every backend with its speed.
type Report struct {
	Go       string          `json:"go"` // the Go version of the build
	OS       string          `json:"os"`
	Arch     string          `json:"arch"`
	CPU      string          `json:"cpu"`
	Cores    int             `json:"cores"`
	Memory   int64           `json:"memory_bytes,omitempty"`           // 0: unknown
	Free     int64           `json:"memory_available_bytes,omitempty"` // 0: unknown
	GPU      bool            `json:"nvidia_gpu"`
	CacheDir string          `json:"cache_dir"`
	Modules  []Module        `json:"modules"`
	Backends []BackendReport `json:"backends"`
	Chosen   string          `json:"chosen,omitempty"` // what Open would take
	Reason   string          `json:"reason,omitempty"` // and why
	Error    string          `json:"error,omitempty"`  // why nothing can be opened
}

// Module is a Go module of the program and its version.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// BackendReport is the examination of one backend.
type BackendReport struct {
	Choice
	Info   *Info       `json:"info,omitempty"` // nil if it did not open
	Open   float64     `json:"open_seconds,omitempty"`
	Plugin *PluginFile `json:"plugin_file,omitempty"`
	Matmul []Matmul    `json:"matmul,omitempty"`
	Error  string      `json:"error,omitempty"` // it opened, but did not compute
}

// PluginFile identifies a plugin's file.
type PluginFile struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Tested bool   `json:"tested"` // it is the very build that this library is tested with
}

// matmulSizes are the sides of the square matrices that Doctor multiplies.
var matmulSizes = []int{512, 1024}

// Doctor examines the machine and every backend that o allows: it opens each (installing a plugin
// where o lets it), and multiplies matrices on it. Whatever fails is in the report.
func Doctor(ctx context.Context, o Options) Report {
	r := Report{
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU: cpuModel(vectors()), Cores: runtime.NumCPU(), GPU: thisMachine.hasGPU(), Modules: modules(),
	}
	r.Memory, r.Free = memoryBytes()
	o, err := o.checked()
	r.CacheDir = o.CacheDir
	if err != nil {
		r.Error = err.Error()
		return r
	}
	r.examine(ctx, o, drivers())
	return r
}

// examine opens and measures the drivers that o allows. The first that opens is the one that Open would take.
func (r *Report) examine(ctx context.Context, o Options, all []driver) {
	var failed []Choice
	r.Error = "no backend works"
	if o.Name != "" && o.Name != Auto {
		r.Error = "the backend " + o.Name + " does not work here"
	}
	for _, d := range all {
		if o.Name != Auto && o.Name != d.name {
			r.Backends = append(r.Backends, BackendReport{Choice: passedOver(ctx, o, d, nil)})
			continue
		}
		b := examineOne(ctx, o, d)
		switch {
		case !b.Available:
			failed = append(failed, b.Choice)
		case r.Chosen == "":
			b.Used, r.Chosen, r.Reason, r.Error = true, b.Name, reason(o, failed), ""
			if b.Error != "" {
				r.Error = fmt.Sprintf("backend %s opens, but does not work: %s", b.Name, b.Error)
			}
		}
		r.Backends = append(r.Backends, b)
	}
}

// examineOne opens one backend, identifies its plugin and measures it.
func examineOne(ctx context.Context, o Options, d driver) BackendReport {
	start := time.Now()
	b, err := openOne(ctx, o, d)
	r := BackendReport{Choice: choice(d, err), Open: time.Since(start).Seconds()}
	if err != nil {
		r.Open = 0
		return r
	}
	defer b.Close()
	r.Reason, r.Info, b.Info.Reason = "works", &b.Info, "opened for examination"
	r.Plugin = identify(ctx, b.Info.Plugin)
	for _, n := range matmulSizes {
		m, err := timeMatmul(ctx, b, n)
		if err != nil {
			r.Error = printable.Line(err.Error())
			break
		}
		r.Matmul = append(r.Matmul, m)
	}
	return r
}

// identify hashes a plugin's file; nil if there is none, or none that can be read.
func identify(ctx context.Context, path string) *PluginFile {
	sum, err := fileSHA256(ctx, path)
	info, gone := os.Stat(path)
	if err != nil || gone != nil {
		return nil
	}
	return &PluginFile{Path: path, Bytes: info.Size(), SHA256: sum, Tested: sum == cpuPlugins["linux/amd64"].FileSHA256}
}

// modules lists the versions of what the backends are built from.
func modules() (found []Module) {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, path := range []string{"github.com/gomlx/gomlx", "github.com/gomlx/compute", "github.com/gomlx/go-xla"} {
		if i := slices.IndexFunc(build.Deps, func(m *debug.Module) bool { return m.Path == path }); i >= 0 {
			found = append(found, Module{path, build.Deps[i].Version})
		}
	}
	return found
}
