//go:build unix

package atomicfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := WriteBytes(path, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func stat(t *testing.T, path string) (fs.FileMode, *syscall.Stat_t) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode(), info.Sys().(*syscall.Stat_t)
}

// TestModes: a new file and its folder follow the umask, an old file keeps its mode, and while it
// is written, its new content is no more public.
func TestModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for _, mask := range []int{0o022, 0o077, 0o002} {
		t.Run(fmt.Sprint(mask), func(t *testing.T) {
			syscall.Umask(mask)
			path := filepath.Join(t.TempDir(), "folder", "file")
			mustWrite(t, path, "x")
			file, _ := stat(t, path)
			if folder, _ := stat(t, filepath.Dir(path)); file != 0o666&^fs.FileMode(mask) ||
				folder.Perm() != 0o777&^fs.FileMode(mask) {
				t.Errorf("umask %03o: modes %v and %v", mask, folder, file)
			}
		})
	}
	syscall.Umask(0)
	for _, want := range []fs.FileMode{0o600, 0o640, 0o666, 0o755} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			mustWrite(t, path, "old")
			if err := os.Chmod(path, want); err != nil {
				t.Fatal(err)
			}
			err := Write(path, func(w io.Writer) error {
				found, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".file.*.tmp"))
				if err != nil || len(found) != 1 {
					return fmt.Errorf("temporary files: %v, %v", found, err)
				}
				if got, _ := stat(t, found[0]); got&^want != 0 {
					t.Errorf("the temporary file has mode %v", got)
				}
				_, err = w.Write([]byte("new"))
				return err
			})
			if got, _ := stat(t, path); err != nil || got != want {
				t.Errorf("mode %v became %v, %v", want, got, expect.Text(err))
			}
			only(t, path, "new")
		})
	}
}

// TestReadOnlyFile: what cp refuses is refused here, too, although the folder would let the file be
// replaced.
func TestReadOnlyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(path, []byte("new")); (err == nil) != (os.Getuid() == 0) { // the superuser may write anything
		t.Errorf("error %v", expect.Text(err))
	}
}

// TestLinks writes through links of all kinds: the link stays, what it names has the content.
func TestLinks(t *testing.T) {
	for name, c := range map[string]struct {
		links map[string]string // name → what it names
	}{
		"absolute":                {map[string]string{"in/link": "@/there/file"}},
		"relative":                {map[string]string{"in/link": "../there/file"}},
		"to a link":               {map[string]string{"in/link": "second", "in/second": "../there/file"}},
		"up from a linked folder": {map[string]string{"in/link": "far/../file", "in/far": "@/there/deep"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, dir := range []string{"in", "there/deep"} {
				if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for link, to := range c.links {
				if err := os.Symlink(strings.Replace(to, "@", root, 1), filepath.Join(root, link)); err != nil {
					t.Fatal(err)
				}
			}
			target := filepath.Join(root, "there/file")
			mustWrite(t, target, "old")
			mustWrite(t, filepath.Join(root, "in/link"), "new")
			if got, err := os.ReadFile(target); err != nil || string(got) != "new" {
				t.Errorf("what the link names holds %q, %v", got, expect.Text(err))
			}
			for link := range c.links {
				if mode, _ := stat(t, filepath.Join(root, link)); mode&fs.ModeSymlink == 0 {
					t.Errorf("the link %s was replaced", link)
				}
			}
		})
	}
	dir := t.TempDir()
	for name, to := range map[string]string{"itself": "itself", "folder": dir} {
		t.Run(name, func(t *testing.T) {
			link := filepath.Join(dir, name)
			if err := os.Symlink(to, link); err != nil {
				t.Fatal(err)
			}
			if err := WriteBytes(link, []byte("x")); err == nil {
				t.Errorf("a link to %s: no error", to)
			}
			if mode, _ := stat(t, link); mode&fs.ModeSymlink == 0 {
				t.Errorf("the link to %s was replaced", to)
			}
		})
	}
}

// TestHardLinksPart: the other name of a file keeps what it held, such as a run's backup made of
// hard links.
func TestHardLinksPart(t *testing.T) {
	path, backup := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "backup")
	mustWrite(t, path, "old")
	if err := os.Link(path, backup); err != nil {
		t.Skip("no hard links here: ", err)
	}
	mustWrite(t, path, "new")
	only(t, path, "new")
	only(t, backup, "old")
}

// TestPipe: a pipe is written and not replaced.
func TestPipe(t *testing.T) {
	pipe, text := filepath.Join(t.TempDir(), "pipe"), strings.Repeat("through the pipe", 1<<14)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		data, _ := os.ReadFile(pipe)
		read <- string(data)
	}()
	mustWrite(t, pipe, text)
	if got := <-read; got != text {
		t.Errorf("%d bytes came out, %d went in", len(got), len(text))
	}
	if mode, _ := stat(t, pipe); mode&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v now", mode)
	}
	if _, err := os.Stat("/dev/full"); err == nil && WriteBytes("/dev/full", make([]byte, 1<<20)) == nil {
		t.Error("a full device: no error")
	}
}

// TestDevice: a device is written and not replaced, also behind a link.
func TestDevice(t *testing.T) {
	device, link := filepath.Join(t.TempDir(), "null"), filepath.Join(t.TempDir(), "link")
	_, null := stat(t, os.DevNull)
	if err := syscall.Mknod(device, syscall.S_IFCHR|0o666, int(null.Rdev)); err != nil {
		t.Skip("making a device needs the superuser: ", err)
	}
	if err := os.Symlink(device, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{device, link} {
		t.Run(path, func(t *testing.T) {
			mustWrite(t, path, "x")
			if mode, _ := stat(t, device); mode&fs.ModeCharDevice == 0 {
				t.Errorf("after writing %s the device is %v", path, mode)
			}
		})
	}
}

const childStdout = "PARALLELCL_TEST_STDOUT"

// TestStdout runs itself with its output going to a file that already has a line.
func TestStdout(t *testing.T) {
	if os.Getenv(childStdout) != "" {
		mustWrite(t, "/dev/stdout", "through /dev/stdout\n")
		fmt.Println("after")
		os.Exit(0)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	fmt.Fprintln(out, "before")
	cmd := exec.Command(os.Args[0], "-test.run=^TestStdout$")
	cmd.Env = append(os.Environ(), childStdout+"=1")
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	only(t, out.Name(), "before\nthrough /dev/stdout\nafter\n")
}
