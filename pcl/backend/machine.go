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
	return cpuNamed(procFields("/proc/cpuinfo"))
}

// cpuNamed is [cpuModel] of a machine whose /proc/cpuinfo has these fields.
func cpuNamed(fields map[string]string) string {
	name := cmp.Or(fields["model name"], runtime.GOOS+"/"+runtime.GOARCH+" CPU")
	var which []string
	for _, f := range []struct{ key, word string }{
		{"cpu family", "family"}, {"model", "model"}, {"stepping", "stepping"}, // amd64
		{"CPU implementer", "implementer"}, {"CPU part", "part"}, {"CPU variant", "variant"}, {"CPU revision", "revision"}, // arm64
	} {
		if v := fields[f.key]; v != "" {
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
	fields := procFields("/proc/meminfo")
	bytes := func(key string) int64 {
		n, _ := strconv.ParseInt(strings.TrimSuffix(fields[key], " kB"), 10, 64)
		return n * 1024
	}
	return bytes("MemTotal"), bytes("MemAvailable")
}

// procFields are the "key : value" lines of a file up to an empty line, which separates processors; none if it cannot be
// read.
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
