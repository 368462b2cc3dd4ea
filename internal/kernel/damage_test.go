//go:build unix

package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
)

// flip changes a bit in the middle of a file, and neither its size nor its time.
func flip(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err == nil {
		data[len(data)/2] ^= 1
	}
	return errors.Join(err, os.Chmod(file, 0o755), os.WriteFile(file, data, 0o755),
		os.Chtimes(file, time.Time{}, info.ModTime()))
}

func halve(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return errors.Join(os.Chmod(file, 0o755), os.Truncate(file, info.Size()/2))
}

func touch(file string) error { return os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour)) }

// TestDamagedCache: the doctor finds a damaged file of the cache; install makes it again, and says
// so in a line.
func TestDamagedCache(t *testing.T) {
	o := machine(t)
	var said bytes.Buffer
	o.Note = func(format string, values ...any) { fmt.Fprintf(&said, format+"\n", values...) }
	k := install(t, o, module(t))
	h, err := build.Read(filepath.Dir(k.Start))
	if err != nil {
		t.Fatal(err)
	}
	toy := ""
	for _, p := range h.Packages {
		if p.Path == modulePath+"/toy" {
			toy = p.Export // in the cache of the go command, only for this module
		}
	}
	described := filepath.Join(filepath.Dir(k.Start), "host.json")
	for _, c := range []struct {
		name, file string
		damage     func(file string) error
		says       string
	}{
		{"nothing", h.Program, func(string) error { return nil }, ""},
		{"half a host", h.Program, halve, "is damaged"},
		{"a bit of the host", h.Program, flip, "is damaged"},
		{"no host", h.Program, os.Remove, ""},
		{"a touched host", h.Program, touch, ""},
		{"half an archive", toy, halve, "is damaged"},
		{"a bit of an archive", toy, flip, "is damaged"},
		{"no archive", toy, os.Remove, ""},
		{"a touched archive", toy, touch, ""},
		{"half a kernel", k.Start, halve, "is damaged"},
		{"no kernel", k.Start, os.Remove, ""},
		{"half a description", described, halve, "host.json: "},
		{"a description without checksums", described, func(file string) error {
			return os.WriteFile(file, []byte(strings.ReplaceAll(readFile(t, file), `"Files"`, `"Old"`)), 0o600)
		}, "earlier version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.damage(c.file); err != nil {
				t.Fatal(err)
			}
			whole := c.name == "nothing" || strings.Contains(c.name, "touched")
			if d := Doctor(t.Context(), o)[3]; (d.Mend == "") != whole {
				t.Errorf("the doctor says %+v", d)
			}
			said.Reset()
			install(t, o, k.Source)
			lines := slices.Collect(strings.Lines(said.String()))
			if (len(lines) > 0) != (c.says != "") || c.says != "" && (len(lines) != 1 || !strings.Contains(lines[0], c.says)) {
				t.Errorf("install says %q", lines)
			}
			if d := Doctor(t.Context(), o)[3]; d.Mend != "" {
				t.Errorf("then the doctor says %+v", d)
			}
			starts(t, k)
		})
	}
}
