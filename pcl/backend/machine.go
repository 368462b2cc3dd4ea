package backend

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// cpuModel names the processor.
func cpuModel() string {
	if name := procField("/proc/cpuinfo", "model name"); name != "" {
		return name
	}
	return runtime.GOOS + "/" + runtime.GOARCH + " CPU"
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
