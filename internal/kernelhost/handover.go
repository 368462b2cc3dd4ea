package kernelhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/viz/nb"
)

// saved is what another process needs to make a value of this module again.
type saved struct {
	experiment.Recipe
	State string                    // the file of a learner's state, which several variables may share
	Tasks map[int]experiment.Recipe // of a learner
}

// Precious reports whether a value is a learner, or a training, which calls what cells have
// declared.
func (module) Precious(v any) bool {
	switch v.(type) {
	case *pcl.Learner, *nb.Training:
		return true
	}
	return false
}

// Save saves what a session has made.
func (module) Save(dir string, v any) (made []byte, err error) {
	r, known := experiment.RecipeOf(v)
	l, learner := v.(*pcl.Learner)
	switch {
	case learner && !known:
		return nil, errors.New("it was not made by a session")
	case !known:
		return nil, nil
	}
	s := saved{Recipe: r}
	if learner {
		if err := s.saveLearner(dir, l); err != nil {
			return nil, err
		}
	}
	return json.Marshal(s)
}

// saveLearner writes a learner's state. Its tasks must come from sessions, which can make their
// streams again.
func (s *saved) saveLearner(dir string, l *pcl.Learner) error {
	s.State, s.Tasks = fmt.Sprintf("%p.learner", l), map[int]experiment.Recipe{}
	for _, info := range l.Tasks() {
		t, err := l.Task(info.ID)
		if err != nil {
			return err
		}
		made, ok := experiment.RecipeOf(t.Test)
		if ownStream(t.Stream) || !ok && !info.Ended {
			return fmt.Errorf("the stream of task %d (%s) cannot be made again", info.ID, info.Name)
		}
		if ok {
			s.Tasks[info.ID] = made
		}
	}
	file := filepath.Join(dir, s.State)
	if _, err := os.Stat(file); err == nil { // another variable has it
		return nil
	}
	return l.Save(file)
}

// ownStream reports whether a stream is of a type that a user declared.
func ownStream(s data.Stream) bool {
	return s != nil && reflect.Indirect(reflect.ValueOf(s)).Type().PkgPath() != reflect.TypeFor[data.Batch]().PkgPath()
}

// Restorer makes values again. Variables that shared a learner share one again.
func (module) Restorer(dir string) func(made []byte) (any, error) {
	learners := map[string]any{} // by file
	return func(made []byte) (any, error) {
		var s saved
		if err := json.Unmarshal(made, &s); err != nil {
			return nil, err
		}
		if l, ok := learners[s.State]; ok {
			return l, nil
		}
		value, err := s.Make(context.Background())
		if err != nil {
			return nil, err
		}
		l, learner := value.(*pcl.Learner)
		if !learner {
			return value, nil
		}
		if err := l.Load(filepath.Join(dir, s.State), s.task); err != nil {
			l.Close()
			return nil, err
		}
		learners[s.State] = l
		return l, nil
	}
}

// task makes a task of a learner again.
func (s saved) task(id int) (pcl.Task, error) {
	r, ok := s.Tasks[id]
	if !ok {
		return pcl.Task{}, nil
	}
	made, err := r.Make(context.Background())
	if err != nil {
		return pcl.Task{}, err
	}
	return made.(pcl.Task), nil
}
