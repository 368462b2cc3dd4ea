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
)

// umask sets the umask for a test.
func umask(t *testing.T, mask int) {
	t.Helper()
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := WriteBytes(path, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func TestModeOfANewFile(t *testing.T) {
	for mask, want := range map[int]fs.FileMode{0o022: 0o644, 0o077: 0o600, 0o002: 0o664} {
		umask(t, mask)
		path := filepath.Join(t.TempDir(), "folder", "file")
		mustWrite(t, path, "x")
		if got := mode(t, path); got != want {
			t.Errorf("umask %03o: mode %v, want %v", mask, got, want)
		}
		if got := mode(t, filepath.Dir(path)).Perm(); got != 0o777&^fs.FileMode(mask) {
			t.Errorf("umask %03o: the new folder has mode %v", mask, got)
		}
	}
}

func TestModeOfAnOldFileStays(t *testing.T) {
	umask(t, 0o022)
	for _, want := range []fs.FileMode{0o600, 0o640, 0o666, 0o755} {
		path := filepath.Join(t.TempDir(), "file")
		mustWrite(t, path, "old")
		if err := os.Chmod(path, want); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, path, "new")
		if got := mode(t, path); got != want {
			t.Errorf("mode %v became %v", want, got)
		}
		only(t, path, "new")
	}
}

// While it is written the new content of a private file is private, too.
func TestTemporaryFileIsNoMorePublic(t *testing.T) {
	umask(t, 0)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := Write(path, func(io.Writer) error {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".file.*.tmp"))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("temporary files: %v, %v", found, err)
		}
		if got := mode(t, found[0]); got != 0o600 {
			t.Errorf("the temporary file has mode %v", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOwnerStays(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only the superuser can give files away")
	}
	path := filepath.Join(t.TempDir(), "file")
	mustWrite(t, path, "old")
	if err := os.Chown(path, 12345, 23456); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, path, "new")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 23456 {
		t.Errorf("the file belongs to %d:%d now", s.Uid, s.Gid)
	}
}

// What cp refuses is refused here, too, although the folder would let the file be replaced.
func TestReadOnlyFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	err, want := WriteBytes(path, []byte("new")), "old"
	if os.Getuid() == 0 { // the superuser may write anything
		want = "new"
	}
	if (err == nil) != (want == "new") {
		t.Errorf("error %v", err)
	}
	only(t, path, want)
}

// TestLinks writes through links of all kinds: the link stays, what it names has the content.
func TestLinks(t *testing.T) {
	for name, c := range map[string]struct {
		links  map[string]string // name → what it names
		target string
		exists bool
	}{
		"absolute":                      {map[string]string{"in/link": "@/there/file"}, "there/file", true},
		"relative":                      {map[string]string{"in/link": "../there/file"}, "there/file", true},
		"to a link":                     {map[string]string{"in/link": "second", "in/second": "../there/file"}, "there/file", true},
		"to nothing":                    {map[string]string{"in/link": "../there/file"}, "there/file", false},
		"to nothing, absolute":          {map[string]string{"in/link": "@/there/file"}, "there/file", false},
		"to a link to nothing":          {map[string]string{"in/link": "second", "in/second": "@/there/file"}, "there/file", false},
		"up from a linked folder":       {map[string]string{"in/link": "far/../file", "in/far": "@/there/deep"}, "there/file", false},
		"up from a linked folder, file": {map[string]string{"in/link": "far/../file", "in/far": "@/there/deep"}, "there/file", true},
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
			target := filepath.Join(root, c.target)
			if c.exists {
				mustWrite(t, target, "old")
			}
			mustWrite(t, filepath.Join(root, "in/link"), "new")
			if got, err := os.ReadFile(target); err != nil || string(got) != "new" {
				t.Errorf("what the link names holds %q, %v", got, err)
			}
			for link := range c.links {
				if mode(t, filepath.Join(root, link))&fs.ModeSymlink == 0 {
					t.Errorf("the link %s was replaced", link)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(root, "*", ".*.tmp")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestImpossibleLinks(t *testing.T) {
	dir := t.TempDir()
	for name, to := range map[string]string{"itself": "itself", "folder": dir, "nowhere": "none/file", "a folder to be": "none/"} {
		link := filepath.Join(dir, name)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		if err := WriteBytes(link, []byte("x")); err == nil {
			t.Errorf("a link to %s: no error", to)
		}
		if mode(t, link)&fs.ModeSymlink == 0 {
			t.Errorf("the link to %s was replaced", to)
		}
	}
}

// A hard link's other name keeps what it held: a run's backup made of hard links stays what it was.
func TestHardLinksPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	backup := filepath.Join(t.TempDir(), "backup")
	mustWrite(t, path, "old")
	if err := os.Link(path, backup); err != nil {
		t.Skip("no hard links here: ", err)
	}
	mustWrite(t, path, "new")
	only(t, path, "new")
	only(t, backup, "old")
}

func TestDeviceIsWrittenInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "null")
	null, err := os.Stat("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mknod(path, syscall.S_IFCHR|0o666, int(null.Sys().(*syscall.Stat_t).Rdev)); err != nil {
		t.Skip("making a device needs the superuser: ", err)
	}
	mustWrite(t, path, "x")
	if got := mode(t, path); got&fs.ModeCharDevice == 0 {
		t.Errorf("the device is %v now", got)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, link, "x")
	if got := mode(t, path); got&fs.ModeCharDevice == 0 {
		t.Errorf("behind a link the device is %v now", got)
	}
}

func TestPipeIsWrittenInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		read <- string(data)
	}()
	text := strings.Repeat("through the pipe", 1<<14)
	mustWrite(t, path, text)
	if got := <-read; got != text {
		t.Errorf("%d bytes came out, %d went in", len(got), len(text))
	}
	if got := mode(t, path); got&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v now", got)
	}
}

func TestFullDeviceIsAnError(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	if err := WriteBytes("/dev/full", make([]byte, 1<<20)); err == nil {
		t.Error("no error")
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
