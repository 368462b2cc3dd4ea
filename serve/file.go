package serve

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/journal"
	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl"
)

// lock locks Options.File, if one is set. Without the lock a second service would continue from a
// state that this one is about to replace, and overwrite the newer one.
func (s *Service) lock() error {
	name := s.options.File
	if name == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil { // less the umask
		return err
	}
	lock := flock.New(name+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))
	s.unlock = lock.Close
	if ours, err := lock.TryLock(); err != nil {
		return err
	} else if !ours {
		return fmt.Errorf("another service uses %s: give this one a file of its own, or end that one", name)
	}
	// a service that is killed again and again while it saves must not fill the disk
	return errors.Join(atomicfile.Sweep(name), atomicfile.Sweep(idsFile(name)), atomicfile.Sweep(networkFile(name)))
}

// open loads the learner from Options.File, if one is set.
func (s *Service) open() error {
	if s.options.File == "" {
		close(s.whole)
		return nil
	}
	state, err := s.load()
	if err != nil {
		return err
	}
	if err := s.openJournal(state); err != nil {
		return err
	}
	if s.journal != nil && s.journal.Last() > s.journal.Covered() {
		return nil // ids are left out when the journal's own have been given again
	}
	close(s.whole)
	return s.skipGiven()
}

// load loads the learner, if it was saved, and says which state that is.
func (s *Service) load() (of journal.Sum, err error) {
	state, err := pcl.LoadState(s.options.File)
	if errors.Is(err, fs.ErrNotExist) { // as at the first start
		return of, nil
	}
	if err != nil {
		return of, err
	}
	tasks, err := state.Tasks()
	if err != nil {
		return of, err
	}
	if s.learner.Steps() > 0 || s.learner.LastID() > 0 {
		return sumOf(state), s.replaces(state, tasks)
	}
	err = s.learner.Restore(state, func(id int) (pcl.Task, error) {
		saved := tasks[slices.IndexFunc(tasks, func(t pcl.TaskInfo) bool { return t.ID == id })]
		task, err := s.newTask(saved.Name, saved.Classes, saved.ClassNames)
		if !saved.Ended {
			s.streams.Store(id, task.Stream)
		}
		return task, err
	})
	if err == nil {
		s.count(s.learner.Tasks())
	}
	return sumOf(state), err
}

// replaces returns an error if a learner that has begun is not one that went on from the file.
func (s *Service) replaces(saved pcl.State, tasks []pcl.TaskInfo) error {
	steps, err := saved.Steps()
	if err == nil && steps > s.learner.Steps() {
		err = fmt.Errorf("%s has a learner after %d steps, and would be replaced by one after %d: "+
			"load it first (pcl.Learner.Load), or name another file", s.options.File, steps, s.learner.Steps())
	}
	if err == nil {
		s.count(tasks)
	}
	return err
}

// save saves the learner as it is between two steps, and counts that.
func (s *Service) save() error {
	err := s.saveNow()
	s.metrics.noteSave(err)
	if err == nil {
		s.watch.saved()
	}
	return err
}

func (s *Service) saveNow() error {
	state, saved, err := s.capture()
	if err != nil {
		return err
	}
	tasks, err := state.Tasks()
	if err != nil {
		return err
	}
	if err := state.Save(s.options.File); err != nil {
		return err
	}
	s.saveNetwork()
	if s.journal == nil { // else all that was taken is on the disk
		s.count(tasks)
	}
	return cmp.Or(atomicfile.SyncDir(filepath.Dir(s.options.File)), saved())
}

// count counts the samples of the tasks that the file has: those that the learner has taken, and
// those that waited.
func (s *Service) count(tasks []pcl.TaskInfo) {
	saved := map[int]int{}
	for _, t := range tasks {
		saved[t.ID] = t.Samples + t.Waiting
	}
	s.saved.mu.Lock()
	defer s.saved.mu.Unlock()
	s.saved.byTask = saved
}

// tally is how many samples of each task are on the disk: in the file, or in the journal.
type tally struct {
	mu     sync.Mutex
	byTask map[int]int
}

func (t *tally) of(id int) (n int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, ok = t.byTask[id]
	return n, ok
}

func (t *tally) add(id, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byTask[id] += n
}

func (t *tally) set(id, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byTask[id] = n
}

// saveLast saves the learner when the service ends. It waits for requests that change the learner;
// later ones are refused.
func (s *Service) saveLast() error {
	if s.options.File == "" || !s.has() {
		return nil
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := s.save(); err != nil || !s.isWhole() {
		return err
	}
	if err := s.giveUpTo(s.learner.LastID()); err != nil { // so that ids go on without a gap
		return err
	}
	return s.leaveJournal()
}

// idBlock is how many ids of tasks are reserved at once.
const idBlock = 64

// idsFile is the file with the highest id that may have been given. It is written before an id is
// given, so that an id lost in a crash is never given again.
func idsFile(file string) string { return file + ".ids" }

// reserve makes sure that no later service gives this id. Call it with s.mu held.
func (s *Service) reserve(id int) error {
	if s.options.File == "" || id <= s.given {
		return nil
	}
	return s.giveUpTo(id + idBlock - 1)
}

// giveUpTo notes that ids up to this one may be given.
func (s *Service) giveUpTo(id int) error {
	err := atomicfile.WriteBytes(idsFile(s.options.File), fmt.Appendln(nil, id))
	if err == nil {
		s.given = id
	}
	return ours(err)
}

// skipGiven leaves out the ids that may have been given before.
func (s *Service) skipGiven() error {
	name := idsFile(s.options.File)
	text, err := regular.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	given, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || given < 0 {
		return fmt.Errorf("%s: %.20q is not the highest id that was given: want a whole number of 0 or more", name, text)
	}
	return s.learner.SkipIDs(given)
}
