package experiment

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
)

// peakRSS returns the largest amount of memory that this process has used so far (its resident size), in bytes.
func peakRSS() int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if f := bytes.Fields(lines.Bytes()); len(f) == 3 && string(f[0]) == "VmHWM:" {
			kib, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return kib << 10
		}
	}
	return 0
}
