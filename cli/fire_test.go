//go:build linux

package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var schedules = flag.Int("schedules", 6, "how many random schedules TestFire plays on a run's folder")

// TestFire plays random schedules on the folder of one run: two or three processes at a time are
// begun there with all flags that fit, killed, asked to end, while the disk fills and is emptied
// again. No finished run may be lost or changed, no file broken, every exit code has to fit what
// happened, and in the end the run has the bits of one that nobody disturbed.
func TestFire(t *testing.T) {
	if *schedules == 0 {
		return
	}
	if disk := t.TempDir(); mount(disk) == nil {
		syscall.Unmount(disk, 0)
	} else if inNamespace(t) {
		return
	}
	args := small(t, "--backend", "go", "--checkpoint-every", "7")[1:] // without -q
	undisturbed := t.TempDir()
	if cmd := pclCommand(append(args, "-o", undisturbed)...); cmd.Run() != nil {
		t.Fatal(stderrOf(cmd))
	}
	want := left(t, undisturbed)
	var all tally
	began := time.Now()
	t.Run("schedules", func(t *testing.T) {
		for i := range *schedules {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				f := newFire(t, args, want, uint64(i))
				f.play()
				all.add(f.count)
			})
		}
	})
	t.Logf("%d schedules of a run of %d steps in %.0f s: %s", *schedules, want.Steps, time.Since(began).Seconds(), &all)
}

// mount puts a small disk of its own at a folder.
func mount(dir string) error { return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=6m,mode=0755") }

// inNamespace plays the test once more in a user namespace, where everybody may mount, unless that
// is what is going on, or it is not allowed: then the disk stays as it is, and the rest of the
// schedules is played.
func inNamespace(t *testing.T) bool {
	const inside = "PARALLELCL_FIRE_INSIDE"
	if os.Getenv(inside) != "" {
		t.Log("no disk can be mounted here: it does not fill")
		return false
	}
	own := func(id int) []syscall.SysProcIDMap { return []syscall.SysProcIDMap{{HostID: id, Size: 1}} }
	try := exec.Command(os.Args[0], "-test.run=^TestFire$", "-test.v", "-schedules", "0")
	attributes := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: own(os.Getuid()), GidMappings: own(os.Getgid()),
	}
	try.SysProcAttr = attributes
	if try.Run() != nil {
		t.Log("no disk can be mounted here, and there are no user namespaces: it does not fill")
		return false
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFire$", "-test.v", "-test.timeout=0", "-schedules",
		fmt.Sprint(*schedules))
	cmd.SysProcAttr = attributes
	cmd.Env = append(os.Environ(), inside+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("in a user namespace:\n%s", out)
	if err != nil {
		t.Error(err)
	}
	return true
}

// tally counts what happened.
type tally struct {
	sync.Mutex
	n map[string]int
}

func (c *tally) add(n map[string]int) {
	c.Lock()
	defer c.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	for what, k := range n {
		c.n[what] += k
	}
}

func (c *tally) String() string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(c.n)) {
		parts = append(parts, fmt.Sprintf("%s %d", what, c.n[what]))
	}
	return strings.Join(parts, ", ")
}

// fire is one schedule.
type fire struct {
	t        *testing.T
	rng      *rand.Rand
	args     []string
	want     outcome
	disk     string // where the run's folder is; filled by a file in it
	mounted  bool
	full     bool
	slots    []*actor
	finished string // the result, once it was seen
	count    map[string]int
}

// actor is a process of a schedule, with what happened in its life.
type actor struct {
	cmd           *exec.Cmd
	mode          []string
	said          string // file of its standard error
	ended         chan error
	killed, asked bool
	full, rival   bool
	replaced      bool // whether one with --replace was there
}

func newFire(t *testing.T, args []string, want outcome, seed uint64) *fire {
	f := &fire{t: t, rng: rand.New(rand.NewPCG(seed, 2)), args: args, want: want, disk: t.TempDir(),
		count: map[string]int{}}
	if f.mounted = mount(f.disk) == nil; f.mounted {
		t.Cleanup(func() { syscall.Unmount(f.disk, syscall.MNT_DETACH) })
	}
	f.slots = make([]*actor, 2+f.rng.IntN(2))
	return f
}

func (f *fire) out() string { return filepath.Join(f.disk, "out") }

// play makes random events, then lets the run come to its end.
func (f *fire) play() {
	for range 12 + f.rng.IntN(12) {
		f.event()
		f.pause()
		f.reap()
		f.inspect()
	}
	f.heal()
	for _, a := range f.slots {
		if a != nil && f.rng.IntN(2) == 0 {
			f.end(a, syscall.SIGKILL)
		}
	}
	for f.alive() > 0 {
		time.Sleep(5 * time.Millisecond)
		f.reap()
	}
	f.inspect()
	for _, mode := range [][]string{nil, {"--replace"}, nil} {
		a := f.begin(mode)
		if err := <-a.ended; err != nil {
			f.fail(a, "with nobody else there it ends with %v", err)
		}
		left(f.t, f.out()).same(f.t, f.want)
		f.inspect()
	}
	if files := files(f.t, f.out(), ""); len(files) != 3 {
		f.t.Errorf("left are %v, want three files", files)
	}
}

// event does one thing to the processes or to the disk.
func (f *fire) event() {
	i := f.rng.IntN(len(f.slots))
	a := f.slots[i]
	switch n := f.rng.IntN(10); {
	case f.full && n < 4:
		f.heal()
	case a == nil && n < 9:
		modes := [][]string{nil, nil, nil, nil, {"--replace"}}
		mode := modes[f.rng.IntN(len(modes))]
		if f.rng.IntN(4) == 0 {
			mode = slices.Concat(mode, []string{"--jobs", "2"})
		}
		f.slots[i] = f.begin(mode)
		for _, other := range f.slots {
			if other != nil && other != f.slots[i] {
				other.rival, f.slots[i].rival = true, true
				replaced := slices.Contains(slices.Concat(other.mode, mode), "--replace")
				other.replaced, f.slots[i].replaced = other.replaced || replaced, f.slots[i].replaced || replaced
			}
		}
	case a != nil && n < 2:
		f.end(a, syscall.SIGKILL)
	case a != nil && n < 5 && a.speaks(): // else nobody listens to the signal yet
		f.end(a, syscall.SIGTERM)
	case n >= 8 && f.alive() > 0:
		f.fill()
	}
}

// pause lasts a random moment, and before that mostly until something was written in the run's
// folder, so that a slow machine plays the same as a fast one.
func (f *fire) pause() {
	changes := f.rng.IntN(8)
	at := f.state()
	for began := time.Now(); changes > 0 && f.alive() > 0 &&
		time.Since(began) < 2*time.Second; time.Sleep(200 * time.Microsecond) {
		if now := f.state(); now != at {
			at = now
			changes--
		}
		f.reap()
	}
	time.Sleep(time.Duration(f.rng.IntN(5000)) * time.Microsecond)
}

// state is the names of the files of the run, temporary ones too.
func (f *fire) state() string {
	var names []string
	filepath.WalkDir(f.out(), func(path string, d fs.DirEntry, err error) error {
		names = append(names, path)
		return nil
	})
	return strings.Join(names, "\n")
}

func (f *fire) begin(mode []string) *actor {
	f.t.Helper()
	said, err := os.Create(filepath.Join(f.t.TempDir(), "said"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer said.Close()
	a := &actor{mode: mode, said: said.Name(), full: f.full, ended: make(chan error, 1)}
	a.cmd = exec.Command("pcl", slices.Concat(f.args, mode, []string{"-o", f.out()})...)
	a.cmd.Stderr = said
	if err := a.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { a.cmd.Process.Kill() })
	go func() { a.ended <- a.cmd.Wait() }()
	f.count["processes"]++
	if slices.Contains(mode, "--jobs") {
		f.count["of these with --jobs"]++
	}
	return a
}

// speaks says that the process has written something: it is beyond its start.
func (a *actor) speaks() bool {
	info, err := os.Stat(a.said)
	return err == nil && info.Size() > 0
}

func (f *fire) end(a *actor, s syscall.Signal) {
	switch {
	case s == syscall.SIGKILL:
		a.killed = true
		f.count["SIGKILL"]++
	case a.asked: // a second one would end it at once
		return
	default:
		a.asked = true
		f.count["SIGTERM"]++
	}
	if err := a.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		f.t.Error(err)
	}
}

// fill leaves no room on the disk.
func (f *fire) fill() {
	if !f.mounted {
		return
	}
	ballast, err := os.Create(filepath.Join(f.disk, "ballast"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer ballast.Close()
	for size := 1 << 16; size > 0; {
		if _, err := ballast.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	f.full = true
	f.count["disk filled"]++
	for _, a := range f.slots {
		if a != nil {
			a.full = true
		}
	}
}

func (f *fire) heal() {
	if err := os.Remove(filepath.Join(f.disk, "ballast")); err != nil && !errors.Is(err, os.ErrNotExist) {
		f.t.Error(err)
	}
	f.full = false
}

func (f *fire) alive() int {
	n := 0
	for _, a := range f.slots {
		if a != nil {
			n++
		}
	}
	return n
}

// reap judges the processes that have ended.
func (f *fire) reap() {
	for i, a := range f.slots {
		if a == nil {
			continue
		}
		select {
		case err := <-a.ended:
			f.judge(a, err)
			if f.replacing() {
				f.finished = ""
			}
			f.slots[i] = nil
		default:
		}
	}
}

// replacing says whether a process may have removed a result.
func (f *fire) replacing() bool {
	return slices.ContainsFunc(f.slots, func(a *actor) bool { return a != nil && slices.Contains(a.mode, "--replace") })
}

// judge says whether a process had reason to end as it did.
func (f *fire) judge(a *actor, err error) {
	said := a.words()
	code := a.cmd.ProcessState.ExitCode()
	why := fmt.Sprintf("exit %d", code)
	fits := false
	switch {
	case strings.Contains(said, "goroutine "):
		why = "a crash"
	case code == 0:
		_, err := os.Stat(filepath.Join(onlyFolder(f.t, f.out()), "result.json"))
		fits = err == nil || a.replaced
	case code < 0:
		why, fits = "exit by SIGKILL", a.killed && err.Error() == "signal: killed"
	case code == exitInterrupted:
		fits = a.asked && strings.Contains(said, "go on with: pcl run") && !strings.Contains(said, "--replace")
	case strings.Contains(said, " is in use by "):
		why, fits = "exit 1 (in use)", a.rival
	case strings.Contains(said, "no space left"):
		why, fits = "exit 1 (no space)", a.full && !strings.Contains(said, "go on with")
	}
	f.count[why]++
	if !fits {
		f.fail(a, "%s does not fit (asked %t, killed %t, disk full %t, rival %t)", why, a.asked, a.killed, a.full, a.rival)
	}
}

func (a *actor) words() string {
	data, err := os.ReadFile(a.said)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (f *fire) fail(a *actor, format string, values ...any) {
	f.t.Helper()
	f.t.Errorf("pcl run %v: %s\n%s", a.mode, fmt.Sprintf(format, values...), a.words())
}

// inspect checks all files of the run, whoever may be at work there.
func (f *fire) inspect() {
	dir := onlyFolder(f.t, f.out())
	if _, err := os.Stat(f.out()); err != nil || dir == "" {
		return
	}
	result := f.read(dir, "result.json")
	switch {
	case f.finished != "" && result == "" && !f.replacing():
		f.t.Error("the result of a finished run is lost")
	case result != "":
		if got := withoutMeasured(f.t, result); got != f.want.Result {
			f.t.Errorf("the result is another: %s", got)
		}
		f.finished = result
	}
	if f.replacing() {
		f.finished = ""
	}
	for _, name := range []string{"result.json", "scenario.json"} {
		if text := f.read(dir, name); text != "" && !json.Valid([]byte(text)) {
			f.t.Errorf("%s is broken: %q", name, text)
		}
	}
	f.checkpoints(dir)
}

// read returns a file, "" where there is none.
func (f *fire) read(path ...string) string {
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.t.Error(err)
	}
	return string(data)
}

// checkpoints wants each to be whole, and the records up to it to be those of the undisturbed run.
func (f *fire) checkpoints(dir string) {
	paths, err := filepath.Glob(filepath.Join(dir, "checkpoint-*.pcl"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, path := range paths {
		data := []byte(f.read(path))
		if len(data) == 0 {
			if _, err := os.Stat(path); err == nil {
				f.t.Errorf("%s is empty", path)
			}
			continue // removed in the meantime
		}
		body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
		if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
			f.t.Errorf("%s is not whole", path)
			continue
		}
		n := binary.LittleEndian.Uint64(body[8:])
		var head struct {
			State struct {
				Run struct{ Records int }
			}
		}
		if err := json.Unmarshal(body[16:16+n], &head); err != nil {
			f.t.Errorf("%s: %v", path, err)
			continue
		}
		records := f.read(dir, "records.jsonl")
		if _, err := os.Stat(path); err != nil {
			continue // removed in the meantime, and the records perhaps with it
		}
		if at := head.State.Run.Records; at == 0 || len(records) < at || records[:at] != f.want.Records[:at] {
			f.t.Errorf("%s was made at %d bytes of records; there are %d, and they differ", path, at, len(records))
		}
	}
}
