package backend

import (
	"bufio"
	"cmp"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/cpu"
)

// cpuModel names the processor and what tells it from others that round differently: its type,
// since virtual machines give different processors the same name, and what the caller adds, such as
// [vectors] and [cache].
func cpuModel(more ...string) string { return cpuNamed(procFields("/proc/cpuinfo"), more...) }

// usual are the data caches for which older programs had XLA's CPU results computed. A device's
// name leaves them out.
var usual = map[string]string{"L1": "32K", "L2": "512K"}

// cache names one of the processor's data caches if it changes the bits of XLA's products: Eigen
// cuts sums into pieces that fit L1, and convolutions also by L2. It is empty for the usual size,
// where the size is not known, and on other architectures, where Eigen takes constants.
func cache(level string) string {
	index := map[string]string{"L1": "0", "L2": "2"}[level]
	size, _ := os.ReadFile("/sys/devices/system/cpu/cpu0/cache/index" + index + "/size")
	return cacheNamed(runtime.GOARCH, level, strings.TrimSpace(string(size)))
}

func cacheNamed(arch, level, size string) string {
	if arch != "amd64" || size == "" || size == usual[level] {
		return ""
	}
	return level + " " + strings.TrimSuffix(size, "K") + " KB"
}

// vectors names the widest vector instructions that programs can use here, for which XLA compiles;
// empty if the processor is not of the amd64 architecture, or has none of these.
func vectors() string {
	switch {
	case cpu.X86.HasAVX512F:
		return "AVX-512"
	case cpu.X86.HasAVX2:
		return "AVX2"
	case cpu.X86.HasAVX:
		return "AVX"
	}
	return ""
}

// cpuNamed is [cpuModel] of a machine whose /proc/cpuinfo has these fields.
func cpuNamed(fields map[string]string, more ...string) string {
	name := cmp.Or(fields["model name"], runtime.GOOS+"/"+runtime.GOARCH+" CPU")
	var which []string
	for _, f := range []struct{ key, word string }{
		{"cpu family", "family"}, {"model", "model"}, {"stepping", "stepping"}, // amd64
		// arm64
		{"CPU implementer", "implementer"}, {"CPU part", "part"}, {"CPU variant", "variant"}, {"CPU revision", "revision"},
	} {
		if v := fields[f.key]; v != "" {
			which = append(which, f.word+" "+v)
		}
	}
	about := append([]string{strings.Join(which, " ")}, more...)
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" })
	if len(about) == 0 {
		return name
	}
	return name + " (" + strings.Join(about, ", ") + ")"
}

// memoryBytes is the machine's memory, in all and available; 0 where it is not known.
func memoryBytes() (total, available int64) {
	fields := procFields("/proc/meminfo")
	bytes := func(key string) int64 {
		n, _ := strconv.ParseInt(strings.TrimSuffix(fields[key], " kB"), 10, 64)
		return n * 1024
	}
	return bytes("MemTotal"), bytes("MemAvailable")
}

// procFields are the "key : value" lines of a file up to an empty line, which separates processors;
// none if it cannot be read.
func procFields(path string) map[string]string {
	fields := map[string]string{}
	f, err := os.Open(path)
	if err != nil {
		return fields
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan() && s.Text() != ""; {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok {
			fields[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return fields
}
