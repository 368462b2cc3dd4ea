//go:build cgo && linux && (amd64 || arm64)

package backend

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"

	"github.com/parallelcl/parallelcl/internal/nice"
	"github.com/parallelcl/parallelcl/pcl/backend/internal/pjrtenv"
)

func init() { pjrtenv.Restore() }

// xlaMu guards the process environment, through which plugins take some of their settings, and the
// loaded plugins.
var xlaMu sync.Mutex

// openXLA opens a client of the plugin file of info and completes info. config and options are the
// binding's.
func openXLA(info Info, config string, options pjrt.NamedValuesMap) (_ *Backend, err error) {
	xlaMu.Lock()
	defer xlaMu.Unlock()
	defer recoverTo(&err, "open plugin "+info.Plugin)
	file, err := filepath.Abs(info.Plugin)
	if err != nil {
		return nil, err
	}
	if info.Name == XLACPU {
		// the plugin reads it when it creates a client, which has threads of its own
		defer setEnv("NPROC", strconv.Itoa(info.Threads))()
	}
	var b *xla.Backend
	withoutSignals(func() {
		var p pluginFile
		if p, err = load(info.Name, file); err == nil {
			info.PluginVersion = p.api
			b, err = xla.NewWithOptions(p.name+config, options)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("plugin %s: %w", file, err)
	}
	info.Device = cmp.Or(info.Device, b.DeviceDescription(0))
	return &Backend{Backend: b, Info: info}, nil
}

// setEnv sets an environment variable and returns the function that restores it.
func setEnv(key, value string) (restore func()) {
	before, set := os.LookupEnv(key)
	os.Setenv(key, value)
	if !set {
		return func() { os.Unsetenv(key) }
	}
	return func() { os.Setenv(key, before) }
}

func openCPU(ctx context.Context, o Options) (*Backend, error) {
	file, err := cpuPlugin.installed(ctx, o)
	if err != nil {
		return nil, err
	}
	return openCPUPlugin(file, o)
}

func openCPUPlugin(plugin string, o Options) (*Backend, error) {
	keepFreedMemory()
	xlaMu.Lock()
	used, err := setVectors(o.Vectors, vectors())
	xlaMu.Unlock()
	if err != nil {
		return nil, err
	}
	options := pjrt.NamedValuesMap{"cpu_device_count": int64(1)}
	settings := ""
	if os.Getenv(envSeparate) != "" {
		settings = ",noshared_buffers"
	}
	info := Info{Name: XLACPU, Plugin: plugin, Device: cpuModel(used, cache("L1"), cache("L2")), Vectors: used,
		Threads: max(o.Threads, 1)}
	open := func(info Info, by int) (b *Backend, err error) { // a client's threads have the priority of their maker
		nice.Do(by, func() { b, err = openXLA(info, settings, options) })
		return b, err
	}
	b, err := open(info, o.Nice)
	if err != nil {
		return nil, err
	}
	b.beside.open = func() (compute.Backend, error) {
		one := info
		one.Threads = 1
		c, err := open(one, 0)
		if err != nil {
			return nil, err
		}
		return c.Backend, nil
	}
	if err := b.addClients(o.clients(), func() (*Backend, error) { return open(info, o.Nice) }); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// tf32Env is read by NVIDIA's libraries when they are loaded: 0 forbids TF32.
const tf32Env = "NVIDIA_TF32_OVERRIDE"

func openCUDA(ctx context.Context, o Options) (*Backend, error) {
	file, err := thisMachine.cudaFile(ctx, o)
	if err != nil {
		return nil, err
	}
	return openCUDAPlugin(file, o)
}

// openCUDAPlugin opens an XLA CUDA plugin file on the first GPU that is visible.
func openCUDAPlugin(plugin string, o Options) (*Backend, error) {
	options := pjrt.NamedValuesMap{"preallocate": false, "visible_devices": []int64{0}}
	if dir := cudaDataDir(plugin); dir != "" {
		os.Setenv("XLA_FLAGS", withXLAFlag(os.Getenv("XLA_FLAGS"), cudaFlag, dir)) // read again at each compilation
	}
	if _, given := os.LookupEnv(tf32Env); !o.TF32 && !given {
		os.Setenv(tf32Env, "0") // the binding asks for exact products only, and cuDNN would round in convolutions
	}
	settings := fmt.Sprintf(",tf32=%t,noshared_buffers", o.TF32)
	return openXLA(Info{Name: XLACUDA, Plugin: plugin, Threads: 1}, settings, options)
}
