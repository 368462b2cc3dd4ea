package tempdir

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

const prefix = "tempdir-test-"

// TestMain makes this program one that makes a folder, says where, and waits.
func TestMain(m *testing.M) {
	if os.Getenv("TEMPDIR_CHILD") == "" {
		os.Exit(m.Run())
	}
	d, err := Make(prefix)
	fmt.Println(d.Path, err)
	os.Stdin.Read(make([]byte, 1))
}

// child starts such a program.
func child(t *testing.T) (cmd *exec.Cmd, dir string) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TEMPDIR_CHILD=1")
	must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	must.Get(fmt.Fscan(out, &dir))(t)
	return cmd, dir
}

func there(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// The folder of a killed process is removed by the next one; folders of processes that live, and
// files that are not ours, stay.
func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	killed, left := child(t)
	_, lives := child(t)
	must.Do(t, os.WriteFile(filepath.Join(left, "file"), nil, 0o600))
	unlocked, other := filepath.Join(os.TempDir(), prefix+"1"), filepath.Join(os.TempDir(), "other-1")
	must.Do(t, os.Mkdir(unlocked, 0o700))
	must.Do(t, os.Mkdir(other, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(other, lockFile), nil, 0o600))
	must.Do(t, killed.Process.Kill())
	killed.Wait()
	var ended []string
	own := must.Get(Make(prefix, func(dir string) { ended = append(ended, dir) }))(t)
	if there(left) || !slices.Equal(ended, []string{left}) {
		t.Errorf("the folder %s of a killed process is there; told was %q", left, ended)
	}
	again := must.Get(Make(prefix))(t) // while this process has one
	for _, dir := range []string{lives, unlocked, other, own.Path, again.Path} {
		if !there(dir) {
			t.Errorf("%s is gone", dir)
		}
	}
	must.Do(t, own.Remove())
	if there(own.Path) || !there(again.Path) {
		t.Error("the wrong folder was removed")
	}
}

// Processes that begin together do not take each other's folders away.
func TestMakeTogether(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				d, err := Make(prefix)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(d.Path, "file"), nil, 0o600); err != nil {
					t.Error(err)
				}
				if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}
