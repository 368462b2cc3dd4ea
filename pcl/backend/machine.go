package backend

import (
	"bufio"
	"cmp"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// cpuModel names the processor, by its type too where that is known: virtual machines give different processors, which
// round differently, the same name.
func cpuModel() string {
	return cpuNamed(func(key string) string { return procField("/proc/cpuinfo", key) })
}

// cpuNamed is [cpuModel] of a machine whose /proc/cpuinfo has these fields.
func cpuNamed(field func(key string) string) string {
	name := cmp.Or(field("model name"), runtime.GOOS+"/"+runtime.GOARCH+" CPU")
	var which []string
	for _, f := range []struct{ key, word string }{
		{"cpu family", "family"}, {"model", "model"}, {"stepping", "stepping"}, // amd64
		{"CPU implementer", "implementer"}, {"CPU part", "part"}, {"CPU variant", "variant"}, {"CPU revision", "revision"}, // arm64
	} {
		if v := field(f.key); v != "" {
			which = append(which, f.word+" "+v)
		}
	}
	if len(which) == 0 {
		return name
	}
	return name + " (" + strings.Join(which, " ") + ")"
}

// memoryBytes is the machine's memory, in all and available; 0 where it is not known.
func memoryBytes() (total, available int64) {
	return procKB("MemTotal") * 1024, procKB("MemAvailable") * 1024
}

func procKB(key string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(procField("/proc/meminfo", key), " kB"), 10, 64)
	return n
}

// procField is the value of the first "key : value" line of a file; empty if there is none.
func procField(path, key string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		k, v, ok := strings.Cut(s.Text(), ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
