package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// TestOpen: a file and a link to one are read; what else a path may name is refused at once, by
// what it is.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadFile(file); err != nil || string(text) != "text" {
		t.Errorf("a file: %q, %v", text, expect.Text(err))
	}
	link := filepath.Join(dir, "link")
	if os.Symlink(file, link) == nil {
		if text, err := ReadFile(link); err != nil || string(text) != "text" {
			t.Errorf("a link: %q, %v", text, expect.Text(err))
		}
	}
	_, err := Open(filepath.Join(dir, "none"))
	expect.Refusal(t, "no file", err, fs.ErrNotExist)
	special := map[string]string{dir: "a folder"}
	if pipe := filepath.Join(dir, "pipe"); mkfifo(pipe) == nil {
		special[pipe], special["/dev/zero"] = "a named pipe", "a device"
		if to := filepath.Join(dir, "to"); os.Symlink(pipe, to) == nil {
			special[to] = "a named pipe"
		}
	}
	for path, want := range special {
		t.Run(path, func(t *testing.T) {
			if _, err := ReadFile(path); !errors.As(err, new(*fs.PathError)) ||
				!strings.Contains(err.Error(), path+": it is "+want) {
				t.Errorf("%s: %v", want, expect.Text(err))
			}
		})
	}
	if at := filepath.Join(dir, "socket"); true {
		if l, err := net.Listen("unix", at); err == nil {
			defer l.Close()
			if _, err := ReadFile(at); err == nil {
				t.Error("a socket was read")
			}
		}
	}
}
