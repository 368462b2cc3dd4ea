package backend

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// fakeContent stands for a plugin.
var fakeContent = bytes.Repeat([]byte("0123456789abcdef"), 1<<12)

// fakeInstall is an index with one small plugin and a cache folder for it.
func fakeInstall(t *testing.T) (*fakeIndex, plugin, string) {
	t.Helper()
	x := newFakeIndex(t)
	x.add(t, "tiny-cpu", "plugins/tiny/tiny.so", fakeContent)
	return x, tinyPlugin(hexSHA256(x.wheels["tiny-cpu"])), t.TempDir()
}

func tinyPlugin(wheelSHA string) plugin {
	return plugin{Package: "tiny-cpu", Version: fakeVersion, Platform: linuxAMD64, SHA256: wheelSHA, File: "tiny.so",
		FileSHA256: hexSHA256(fakeContent)}
}

// tried returns the error with which installed ends.
func (p plugin) tried(ctx context.Context, o Options) (file string, err error) {
	return p.installed(ctx, o)
}

func mustInstall(t *testing.T, p plugin, dir string) string {
	t.Helper()
	file := must.Get(p.tried(context.Background(), Options{cache: dir}))(t)
	data := must.Get(os.ReadFile(file))(t)
	if !bytes.Equal(data, fakeContent) {
		t.Fatalf("installed %d bytes that differ from the wheel's %d", len(data), len(fakeContent))
	}
	return file
}

// flipped is data with one bit changed.
func flipped(data []byte) []byte {
	data = bytes.Clone(data)
	data[len(data)/2] ^= 1
	return data
}

// clean checks that the folder of plugins holds an installed plugin and nothing else.
func clean(t *testing.T, dir string) {
	t.Helper()
	if got := entries(t, dir); got != ".lock tiny-cpu-1.2.3 .stamps.json tiny.so" {
		t.Errorf("left behind: %s", got)
	}
}

// entries lists the names in the folder of plugins and its folders.
func entries(t *testing.T, dir string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(filepath.Join(dir, "plugins"), "*"))
	inner, err2 := filepath.Glob(filepath.Join(filepath.Join(dir, "plugins"), "*", "*"))
	must.Do(t, errors.Join(err, err2))
	var names []string
	for _, e := range append(list, inner...) {
		names = append(names, filepath.Base(e))
	}
	return strings.Join(names, " ")
}

// TestInstall: whatever a killed installation or a bad disk left, the plugin is installed, and
// once.
func TestInstall(t *testing.T) {
	const folder = "tiny-cpu-" + fakeVersion
	for name, c := range map[string]struct {
		left    string // a file among the plugins; a folder if it ends in a slash
		content func(wheel []byte) []byte
		more    int32 // downloads than one
	}{
		"nothing there":         {},
		"half a plugin":         {left: folder + "/tiny.so", content: func([]byte) []byte { return fakeContent[:100] }},
		"a flipped bit":         {left: folder + "/tiny.so", content: func([]byte) []byte { return flipped(fakeContent) }},
		"stale lock file":       {left: ".lock", content: func([]byte) []byte { return []byte("12345") }},
		"half unpacked":         {left: folder + ".partial/tiny.so/"},
		"half a wheel":          {left: folder + ".whl", content: func(wheel []byte) []byte { return wheel[:20] }},
		"half of another wheel": {left: folder + ".whl", content: func([]byte) []byte { return []byte("other") }},
		"a whole wheel":         {left: folder + ".whl", content: func(wheel []byte) []byte { return wheel }, more: -1},

		"a connection that breaks": {more: 1},
	} {
		t.Run(name, func(t *testing.T) {
			x, p, dir := fakeInstall(t)
			left := filepath.Join(dir, "plugins", c.left)
			must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, "plugins", c.left+"x")), 0o755))
			if c.content != nil {
				must.Do(t, os.WriteFile(left, c.content(x.wheels["tiny-cpu"]), 0o644))
			}
			if c.more == 1 {
				x.onDownload(breaking(x))
			}
			for range 2 {
				if file := mustInstall(t, p, dir); file != filepath.Join(dir, "plugins", folder, "tiny.so") {
					t.Errorf("installed %s", file)
				}
			}
			if n := x.downloads.Load(); n != 1+c.more {
				t.Errorf("%d downloads, want %d", n, 1+c.more)
			}
			clean(t, dir)
		})
	}
}

// breaking breaks off the first download, and sends the whole wheel when it is asked for again.
func breaking(x *fakeIndex) func(w http.ResponseWriter, data []byte) {
	return func(w http.ResponseWriter, data []byte) {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		w.Write(data[:len(data)*min(10, int(x.downloads.Load())-1)/10])
		if x.downloads.Load() > 1 {
			w.Write(data[len(data)/10:])
		}
	}
}

// TestInstallRefuses: other files than the ones asked for are not installed, and neither are
// endless ones.
func TestInstallRefuses(t *testing.T) {
	serve := func(f func(w http.ResponseWriter, data []byte)) func(x *fakeIndex, p *plugin) {
		return func(x *fakeIndex, _ *plugin) { x.onDownload(f) }
	}
	for name, change := range map[string]func(x *fakeIndex, p *plugin){
		"another wheel in the index": func(_ *fakeIndex, p *plugin) { p.SHA256 = strings.Repeat("0", 64) },
		"unknown package":            func(_ *fakeIndex, p *plugin) { p.Package = "none" },
		"unknown version":            func(_ *fakeIndex, p *plugin) { p.Version = "9" },
		"changed on the way": serve(func(w http.ResponseWriter, data []byte) {
			w.Write(append([]byte("X"), data[1:]...))
		}),
		"not found":        serve(func(w http.ResponseWriter, data []byte) { w.WriteHeader(http.StatusNotFound) }),
		"an endless wheel": serve(func(w http.ResponseWriter, data []byte) { endless(w, data[1:]) }),
		"an endless index": func(x *fakeIndex, _ *plugin) {
			x.answer = func(w http.ResponseWriter) bool {
				endless(w, append([]byte(`{"info":{"summary":"`), make([]byte, 1<<16)...))
				return true
			}
		},
		"offline": func(x *fakeIndex, _ *plugin) { x.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			x, p, dir := fakeInstall(t)
			change(x, &p)
			if _, err := p.tried(t.Context(), Options{cache: dir}); err == nil {
				t.Fatal("no error")
			}
			// from which the next goes on
			if left := strings.TrimSuffix(entries(t, dir), " tiny-cpu-1.2.3.whl"); left != ".lock" {
				t.Errorf("left behind: %s", left)
			}
		})
	}
	_, p, dir := fakeInstall(t)
	_, err := p.tried(t.Context(), Options{})
	expect.Refusal(t, "no folder", err, "HOME")
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o644))
	_, err = p.tried(t.Context(), Options{cache: file})
	expect.Refusal(t, "a file in the folder's place", err, file)
	_, p, dir = fakeInstall(t)
	p.FileSHA256 = strings.Repeat("0", 64)
	if _, err := p.tried(t.Context(), Options{cache: dir}); err == nil {
		t.Error("another file in the wheel: no error")
	}
}

func endless(w http.ResponseWriter, data []byte) {
	w.(http.Flusher).Flush()
	for {
		if _, err := w.Write(data); err != nil {
			return
		}
	}
}

// A plugin whose size is right and whose bytes are not must never be loaded.
func TestDamagedPlugin(t *testing.T) {
	x, p, dir := fakeInstall(t)
	file := mustInstall(t, p, dir)
	must.Do(t, os.WriteFile(file, flipped(fakeContent), 0o644))
	var notice bytes.Buffer
	x.answer = func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusNotFound); return true }
	if _, err := p.tried(t.Context(), Options{cache: dir, Progress: &notice}); err == nil ||
		strings.Count(notice.String(), file) != 1 {
		t.Errorf("offline: error %v, said %q", expect.Text(err), &notice)
	}
	x.answer = nil
	mustInstall(t, p, dir)
}

// TestDamagedSince: a file that was damaged since its installation is installed again, at once if
// its size or time shows the damage, otherwise when it is verified.
func TestDamagedSince(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(dir, file string) error
		verify bool // else it is not noticed
		more   int32
	}{
		"nothing":           {damage: func(string, string) error { return nil }},
		"nothing, verified": {damage: func(string, string) error { return nil }, verify: true},
		"cut":               {damage: func(_, file string) error { return os.Truncate(file, 100) }, more: 1},
		"a bit, in silence": {damage: func(_, file string) error { return flip(file) }},
		"a bit, verified":   {damage: func(_, file string) error { return flip(file) }, verify: true, more: 1},
		"only touched":      {damage: func(_, file string) error { return os.Chtimes(file, time.Time{}, time.Now()) }},
		"the stamps": {damage: func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, stampsFile), []byte("{"), 0o644)
		}},
		"gone, but for its stamp": {damage: func(_, file string) error { return os.Remove(file) }, more: 1},
	} {
		for kind, whole := range map[string]bool{"one file": false, "a folder": true} {
			t.Run(name+", "+kind, func(t *testing.T) {
				x, p, dir := fakeInstall(t)
				file := "tiny.so"
				if whole {
					p.File, p.FileSHA256, file = "plugins/*/tiny.so", "", "plugins/tiny/tiny.so"
				}
				must.Get(p.tried(t.Context(), Options{cache: dir}))(t)
				must.Do(t, c.damage(p.folder(dir), filepath.Join(p.folder(dir), file)))
				var notice bytes.Buffer
				must.Get(p.tried(t.Context(), Options{cache: dir, Verify: c.verify, Progress: &notice}))(t)
				if n := x.downloads.Load(); n != 1+c.more {
					t.Errorf("%d downloads, want %d: %s", n, 1+c.more, &notice)
				}
				if c.more > 0 && name != "gone, but for its stamp" && strings.Count(notice.String(), "installing it again\n") != 1 {
					t.Errorf("it says %q", &notice)
				}
			})
		}
	}
}

// flip changes a bit of a file, and neither its size nor its time.
func flip(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	return errors.Join(err, os.WriteFile(file, flipped(data), 0o644), os.Chtimes(file, time.Time{}, info.ModTime()))
}

// arrives waits until a file has a beginning.
func arrives(t *testing.T, file string) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < 20*time.Second; time.Sleep(time.Millisecond) {
		if info, err := os.Stat(file); err == nil && info.Size() > 0 {
			return
		}
	}
	t.Errorf("%s did not come", file)
}

func TestInstallStopsWithItsContext(t *testing.T) {
	x, p, dir := fakeInstall(t)
	ctx, cancel := context.WithCancel(context.Background())
	x.onDownload(func(w http.ResponseWriter, data []byte) {
		w.Write(data[:10])
		w.(http.Flusher).Flush()
		arrives(t, p.folder(dir)+".whl")
		cancel()
		time.Sleep(50 * time.Millisecond)
	})
	_, err := p.tried(ctx, Options{cache: dir})
	expect.Refusal(t, "tried", err, context.Canceled)
	defer must.Get(lockPlugins(t.Context(), Options{cache: dir}))(t)()
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var notice bytes.Buffer
	if _, err := lockPlugins(ctx, Options{cache: dir, Progress: &notice}); !errors.Is(err, context.DeadlineExceeded) ||
		notice.Len() == 0 {
		t.Errorf("while another has the lock: error %v, notice %q", expect.Text(err), notice.String())
	}
}

// Environment variables that turn this test's binary into a program that installs the tiny plugin.
const (
	childIndex = "PARALLELCL_TEST_INDEX"
	childDir   = "PARALLELCL_TEST_DIR"
	childWheel = "PARALLELCL_TEST_WHEEL"
)

// child starts a process that installs the tiny plugin.
func child(t *testing.T, x *fakeIndex, p plugin, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestInstallInChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), childIndex+"="+x.URL, childDir+"="+dir, childWheel+"="+p.SHA256)
	must.Do(t, cmd.Start())
	return cmd
}

// TestInstallInChild does the work of [child]'s processes.
func TestInstallInChild(t *testing.T) {
	if os.Getenv(childIndex) == "" {
		return // only the processes that other tests start have work to do here
	}
	redirectHTTP(t, os.Getenv(childIndex))
	mustInstall(t, tinyPlugin(os.Getenv(childWheel)), os.Getenv(childDir))
}

func TestProcessesInstallOnce(t *testing.T) {
	x, p, dir := fakeInstall(t)
	x.onDownload(func(w http.ResponseWriter, data []byte) {
		time.Sleep(200 * time.Millisecond) // long enough for all to arrive
		w.Write(data)
	})
	var all []*exec.Cmd
	for range 3 {
		all = append(all, child(t, x, p, dir))
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if n := x.downloads.Load(); n != 1 {
		t.Errorf("%d downloads, want 1", n)
	}
}
