package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
)

// TestRegression: without a memory the first instruments are forgotten, with one they are not.
func TestRegression(t *testing.T) {
	device, err := backend.Open(context.Background(), backend.Options{Name: backend.Go})
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	losses := func(rule string, budget int) (last [instruments]float64) {
		var out bytes.Buffer
		train(&out, device, rule, budget)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		_, numbers, _ := strings.Cut(lines[len(lines)-1], "4:")
		switch n, err := fmt.Sscan(numbers, &last[0], &last[1], &last[2], &last[3]); {
		case n != instruments:
			t.Fatalf("n is %d; want %d", n, instruments)
		case err != nil:
			t.Fatal(err)
		case len(lines) != instruments:
			t.Fatalf("len(lines) is %d; want %d", len(lines), instruments)
		}
		return last
	}
	forgotten, kept := losses("avggrad", 0), losses("emgd-gmc+der-pp", 30)
	for i := range instruments - 1 {
		if kept[i] > 0.05 || forgotten[i] < 3*kept[i] {
			t.Errorf(
				"instrument %d has a loss of %.3f with a memory, %.3f without: want at most 0.05, and at least three times that",
				i+1, kept[i], forgotten[i])
		}
	}
}
