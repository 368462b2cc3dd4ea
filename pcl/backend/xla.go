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

// xlaMu guards the process environment, through which plugins take some of their settings, and
// the table of names.
var xlaMu sync.Mutex

// openXLA opens the plugin file as the platform that kind names.
func openXLA(kind, plugin string, config string, options pjrt.NamedValuesMap, env map[string]string) (b *xla.Backend, api string, err error) {
	xlaMu.Lock()
	defer xlaMu.Unlock()
	defer recoverTo(&err, "open plugin "+plugin)
	plugin, err = filepath.Abs(plugin)
	if err != nil {
		return nil, "", err
	}
	if err := checkPluginFile(plugin); err != nil {
		return nil, "", err
	}
	defer setEnv(env)()
	if api, err = pluginAPI(plugin); err != nil {
		return nil, "", err
	}
	name, err := bindingName(kind, plugin)
	if err != nil {
		return nil, "", err
	}
	if name != plugin {
		defer os.RemoveAll(filepath.Dir(name))
	}
	withoutSignals(func() { b, err = xla.NewWithOptions(name+config, options) })
	if err != nil {
		return nil, "", fmt.Errorf("plugin %s: %w", plugin, err)
	}
	names[kind+plugin] = name
	return b, api, nil
}

// setEnv sets environment variables and returns the function that restores them.
func setEnv(env map[string]string) (restore func()) {
	type old struct {
		value string
		set   bool
	}
	before := make(map[string]old, len(env))
	for k, v := range env {
		value, set := os.LookupEnv(k)
		before[k] = old{value, set}
		os.Setenv(k, v)
	}
	return func() {
		for k, o := range before {
			if o.set {
				os.Setenv(k, o.value)
			} else {
				os.Unsetenv(k)
			}
		}
	}
}

// openCPUPlugin opens an XLA CPU plugin file.
func openCPUPlugin(plugin string, o Options) (*Backend, error) {
	threads := max(o.Threads, 1, o.Devices)
	keepFreedMemory()
	xlaMu.Lock()
	device := cpuModel(limitVectors(vectors()), l1())
	xlaMu.Unlock()
	// The plugin reads NPROC when it creates a client: each Open has a thread pool of its own.
	env := map[string]string{"NPROC": strconv.Itoa(threads)}
	options := pjrt.NamedValuesMap{"cpu_device_count": int64(o.Devices)}
	settings := ""
	if os.Getenv(EnvSeparate) != "" {
		settings = ",noshared_buffers"
	}
	first, api, err := openXLA(XLACPU, plugin, settings, options, env)
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
		c, _, err := openXLA(XLACPU, plugin, settings, options, env)
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
	env := map[string]string{"GOPJRT_CUDA_CHECKS": "0"} // the binding's own search for the data folder
	settings := fmt.Sprintf(",tf32=%t,noshared_buffers", o.TF32)
	b, api, err := openXLA(XLACUDA, plugin, settings, options, env)
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
