package serve

import (
	"bytes"
	"context"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
)

// eventually waits for what a service does in its own time.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for began := time.Now(); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal(what)
		}
	}
}

// TestSaveThatFails: a service that cannot be saved goes on, says so, and is saved when that is possible again.
func TestSaveThatFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	must.Do(t, os.Mkdir(dir, 0o777))
	s := opened(t, filepath.Join(dir, "service.pcl"))
	var said lines
	s.options.SaveEvery, s.options.ErrorLog = 20*time.Millisecond, log.New(&said, "", 0)
	c, stop := serving(t, s)
	task := c.begin(0, 1)
	if err := os.RemoveAll(dir); err != nil {
		stop()
		t.Skip("an open file cannot be removed here:", err)
	}
	if err := os.WriteFile(dir, nil, 0o666); err != nil { // in place of the folder
		t.Fatal(err)
	}
	c.learn(task, 64, 0, 1)
	eventually(t, "nothing was said", func() bool { return strings.Contains(said.String(), "was not saved, and goes on") })
	c.learn(task, 64, 0, 1)
	must.Do(t, os.Remove(dir))
	stop()
	if tasks, err := pcl.SavedTasks(filepath.Join(dir, "service.pcl")); err != nil || len(tasks) != 1 {
		t.Errorf("tasks %v, error %v", tasks, err)
	}
}

// lines is what a log was told.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestTwoOfOneFile: a second service of a file would go on from a state that is about to be replaced.
func TestTwoOfOneFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "folder", "service.pcl")
	first, second := opened(t, file), opened(t, "")
	if _, err := New(second.learner, Options{File: file}); err == nil {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	must.Do(t, first.Run(ctx, nil))
	again, err := New(second.learner, Options{File: file})
	if err != nil {
		t.Fatal("after the end:", err)
	}
	if err := again.Run(ctx, nil); err != nil {
		t.Error(err)
	}
}

// TestLeftOvers: what a killed service left beside its file is removed.
func TestLeftOvers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "learner.pcl")
	left := filepath.Join(filepath.Dir(file), ".learner.pcl.123.tmp")
	must.Do(t, os.WriteFile(left, nil, 0o666))
	opened(t, file)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("a temporary file is left (%v)", err)
	}
}
