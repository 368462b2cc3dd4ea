package backend

import (
	"bufio"
	"cmp"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/cpu"
)

// cpuModel names the processor, with what tells it from others that round differently where that is known: its type, since
// virtual machines give different processors the same name, and its vector instructions, of which virtual machines may have
// fewer than others of the same type. used are the widest of these that are used.
func cpuModel(used string) string {
	return cpuNamed(procFields("/proc/cpuinfo"), used)
}

// vectors names the widest vector instructions that programs can use here, for which XLA compiles; empty if the processor
// is not of the amd64 architecture, or has none of these.
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

// cpuNamed is [cpuModel] of a machine whose /proc/cpuinfo has these fields and whose [vectors] have this name.
func cpuNamed(fields map[string]string, vectors string) string {
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
	var about []string
	for _, s := range []string{strings.Join(which, " "), vectors} {
		if s != "" {
			about = append(about, s)
		}
	}
	if about == nil {
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
