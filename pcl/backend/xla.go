//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/backend/internal/pjrtenv"
)

func init() { pjrtenv.Restore() }

// xlaUnsupported is empty where XLA plugins can be loaded.
const xlaUnsupported = ""

// xlaMu guards the process environment, through which plugins take some of their settings, and the loaded plugins.
var xlaMu sync.Mutex

// openXLA opens a client of the plugin file as the platform that kind names. threads is the size of its pool, which a GPU has none of (0).
func openXLA(kind, plugin, config string, options pjrt.NamedValuesMap, threads int) (b *xla.Backend, api string, err error) {
	xlaMu.Lock()
	defer xlaMu.Unlock()
	defer recoverTo(&err, "open plugin "+plugin)
	if plugin, err = filepath.Abs(plugin); err != nil {
		return nil, "", err
	}
	if threads > 0 {
		defer setEnv("NPROC", strconv.Itoa(threads))() // the plugin reads it when it creates a client
	}
	withoutSignals(func() {
		var p pluginFile
		if p, err = load(kind, plugin); err != nil {
			return
		}
		api = p.api
		if b, err = xla.NewWithOptions(p.name+config, options); err != nil {
			err = fmt.Errorf("plugin %s: %w", plugin, err)
		}
	})
	return b, api, err
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

// openCPUPlugin opens an XLA CPU plugin file.
func openCPUPlugin(plugin string, o Options) (*Backend, error) {
	threads := max(o.Threads, 1, o.Devices)
	keepFreedMemory()
	xlaMu.Lock()
	device := cpuModel(limitVectors(vectors()), l1())
	xlaMu.Unlock()
	options := pjrt.NamedValuesMap{"cpu_device_count": int64(o.Devices)}
	settings := ""
	if os.Getenv(EnvSeparate) != "" {
		settings = ",noshared_buffers"
	}
	first, api, err := openXLA(XLACPU, plugin, settings, options, threads)
	if err != nil {
		return nil, err
	}
	b, err := withInfo(first, o, Info{
		Name: XLACPU, Platform: "cpu", Plugin: plugin, PluginVersion: api, Device: device, Threads: threads,
	})
	if err != nil {
		return nil, err
	}
	err = b.addClients(o, func() (compute.Backend, error) {
		c, _, err := openXLA(XLACPU, plugin, settings, options, threads)
		return c, err
	})
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// tf32Env is read by NVIDIA's libraries when they are loaded: 0 forbids TF32.
const tf32Env = "NVIDIA_TF32_OVERRIDE"

// openCUDAPlugin opens an XLA CUDA plugin file on the first o.Devices GPUs that are visible.
func openCUDAPlugin(plugin string, o Options) (*Backend, error) {
	visible := make([]int64, o.Devices)
	for i := range visible {
		visible[i] = int64(i)
	}
	options := pjrt.NamedValuesMap{"preallocate": false, "visible_devices": visible}
	if dir := cudaDataDir(plugin); dir != "" {
		os.Setenv("XLA_FLAGS", withXLAFlag(os.Getenv("XLA_FLAGS"), cudaFlag, dir)) // read again at each compilation
	}
	if _, given := os.LookupEnv(tf32Env); !o.TF32 && !given {
		os.Setenv(tf32Env, "0") // the binding asks for exact products only, and cuDNN would round in convolutions
	}
	settings := fmt.Sprintf(",tf32=%t,noshared_buffers", o.TF32)
	b, api, err := openXLA(XLACUDA, plugin, settings, options, 0)
	if err != nil {
		return nil, err
	}
	return withInfo(b, o, Info{
		Name: XLACUDA, Platform: "cuda", Plugin: plugin, PluginVersion: api, Device: b.DeviceDescription(0), Threads: 1,
	})
}

// withInfo completes the description of an open plugin and refuses one with too few devices.
func withInfo(b *xla.Backend, o Options, info Info) (*Backend, error) {
	info.Devices = b.NumDevices()
	if info.Devices < o.Devices {
		b.Finalize()
		return nil, fmt.Errorf("plugin %s has %s, %d were asked for", info.Plugin, plural.Of(info.Devices, "device"), o.Devices)
	}
	return &Backend{Backend: b, Info: info}, nil
}
