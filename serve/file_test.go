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

// TestKilled: of a service that was killed, what it had learnt a while before is there.
func TestKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	s := opened(t, file)
	s.options.SaveEvery = 20 * time.Millisecond
	c, stop := serving(t, s)
	defer stop()
	task := c.begin(0, 1)
	c.learn(task, 640, 0, 1)
	left := filepath.Join(t.TempDir(), "left.pcl") // as it would be after a kill
	eventually(t, "the service is not saved while it runs", func() bool {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		if err := os.WriteFile(left, text, 0o666); err != nil {
			t.Fatal(err)
		}
		tasks, err := pcl.SavedTasks(left)
		return err == nil && len(tasks) == 1
	})
	again, stopAgain := serving(t, opened(t, left))
	defer stopAgain()
	if all := again.tasks(); len(all) != 1 || all[0].ID != task {
		t.Errorf("after the kill the tasks are %+v", all)
	}
}

// TestSaveThatFails: a service that cannot be saved goes on, says so, and is saved when that is possible again.
func TestSaveThatFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
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
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
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
	if _, err := New(second.learner, Options{File: file}); err == nil || !strings.Contains(err.Error(), "another service uses") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := first.Run(ctx, nil); err != nil {
		t.Fatal(err)
	}
	again, err := New(second.learner, Options{File: file})
	if err != nil {
		t.Fatal("after the end:", err)
	}
	if err := again.Run(ctx, nil); err != nil {
		t.Error(err)
	}
}

// TestClose: the file of a service that was not run can be used by another, and what a killed service left beside it is removed.
func TestClose(t *testing.T) {
	file := filepath.Join(t.TempDir(), "learner.pcl")
	left := filepath.Join(filepath.Dir(file), ".learner.pcl.123.tmp")
	if err := os.WriteFile(left, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := opened(t, file).Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("a temporary file is left (%v)", err)
	}
}

// TestRunTwice: a service whose file has been given back does not write it again.
func TestRunTwice(t *testing.T) {
	s := opened(t, "")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if first, second := s.Run(over, nil), s.Run(over, nil); first != nil || second == nil {
		t.Errorf("%v, then %v", first, second)
	}
}
