package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl"
)

// open keeps others away from the file, if there is one, before it is read: they would go on from what is about to be
// replaced, and replace it themselves.
func (s *Service) open() error {
	name := s.options.File
	if name == "" {
		s.unlock = func() error { return nil }
		return nil
	}
	lock := flock.New(name+".lock", flock.SetPermissions(0o666))
	s.unlock = lock.Close
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil { // less the umask
		return err
	}
	ours, err := lock.TryLock()
	if err == nil && !ours {
		err = fmt.Errorf("another service uses %s: give this one a file of its own, or end that one", name)
	}
	if err != nil {
		return err
	}
	// a service that is killed again and again while it saves must not fill the disk
	return errors.Join(atomicfile.Sweep(name), atomicfile.Sweep(idsFile(name)), s.load())
}

// load loads the learner, if it was saved.
func (s *Service) load() error {
	file := s.options.File
	tasks, err := pcl.SavedTasks(file)
	if err == nil {
		err = s.learner.Load(file, func(id int) (pcl.Task, error) {
			saved := tasks[slices.IndexFunc(tasks, func(t pcl.TaskInfo) bool { return t.ID == id })]
			task, err := s.newTask(saved.Name, saved.Classes, saved.ClassNames)
			if !saved.Ended {
				s.streams.Store(id, task.Stream)
			}
			return task, err
		})
	}
	switch {
	case err == nil:
		s.count(s.learner.Tasks())
	case !errors.Is(err, fs.ErrNotExist): // as at the first start
		return err
	}
	return s.skipGiven()
}

// save saves the learner as it is between two steps.
func (s *Service) save() error {
	return fail.Tried(func() {
		state := fail.Or(s.learner.State())
		tasks := fail.Or(state.Tasks())
		fail.If(state.Save(s.options.File))
		s.count(tasks)
	})
}

// count counts the samples of the tasks that the file has: those that the learner has taken, and those that waited.
func (s *Service) count(tasks []pcl.TaskInfo) {
	saved := map[int]int{}
	for _, t := range tasks {
		saved[t.ID] = t.Taken + t.Waiting
	}
	s.saved.Store(&saved)
}

// saveLast saves the learner when the service ends. A request that outlived the server does not change it any more.
func (s *Service) saveLast() error {
	if s.options.File == "" {
		return nil
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := s.save(); err != nil {
		return err
	}
	return s.giveUpTo(s.learner.Arrived()) // so that ids go on without a gap
}

// idBlock is how many ids of tasks are reserved at once.
const idBlock = 64

// idsFile has the highest id that may have been given. It is written before that id is, so that an id which was given and
// then lost, since the program was killed before the next save, is not given to somebody else.
func idsFile(file string) string { return file + ".ids" }

// reserve makes sure that no later service gives this id. Call it with s.mu held.
func (s *Service) reserve(id int) error {
	if s.options.File == "" || id <= s.given {
		return nil
	}
	return s.giveUpTo(id + idBlock - 1)
}

func (s *Service) giveUpTo(id int) error {
	err := atomicfile.WriteBytes(idsFile(s.options.File), fmt.Appendln(nil, id))
	if err == nil {
		s.given = id
	}
	return err
}

// skipGiven leaves out the ids that may have been given before.
func (s *Service) skipGiven() error {
	name := idsFile(s.options.File)
	text, err := os.ReadFile(name)
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
	return s.learner.Skip(given)
}
