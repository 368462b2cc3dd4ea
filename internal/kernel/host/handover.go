package host

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
	"github.com/parallelcl/parallelcl/internal/recipe"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/viz/nb"
)

// saved is what another process needs to give a variable its value: how it was made, or a copy.
type saved struct {
	Name   string
	Zero   bool // its value is the one that it has anyway
	Recipe *recipe.Recipe
	State  string                // of a learner, the file of its state, which several variables may share
	Tasks  map[int]recipe.Recipe // of a learner
	Copy   []byte                // in gob
}

// savedFile lists what was saved in a folder.
const savedFile = "saved"

// Save writes variables into a folder, for the process that takes the place of this one.
func (host) Save(r rt.Saving, lost *rt.Lost) error {
	var list []saved
	for _, name := range r.Names {
		v, ok := rt.Value(name)
		if !ok {
			continue
		}
		if v.IsZero() {
			list = append(list, saved{Name: name, Zero: true})
			continue
		}
		s := saved{Name: name}
		err := foreign("it is being changed", func() error { return s.save(r, v) })
		_, learner := v.Interface().(*pcl.Learner)
		_, training := v.Interface().(*nb.Training) // which calls what cells have declared
		switch {
		case err == nil:
			list = append(list, s)
		case learner, training:
			lost.Learners = append(lost.Learners, name+": "+err.Error())
		default:
			lost.Others = append(lost.Others, name)
		}
	}
	f, err := os.Create(filepath.Join(r.Dir, savedFile))
	if err != nil {
		return err
	}
	defer f.Close()
	return gob.NewEncoder(f).Encode(list)
}

// foreign does what reads or sets values of cells. Its panic is an error: a cell may be changing
// them meanwhile, and their methods are the user's.
func foreign(what string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %v", what, p)
		}
	}()
	return do()
}

func (s *saved) save(r rt.Saving, v reflect.Value) error {
	l, learner := v.Interface().(*pcl.Learner)
	made, known := recipe.Of(v.Interface())
	switch size := sizeOf(v, 6); {
	case known:
		s.Recipe = &made
		if learner {
			return s.saveLearner(r.Dir, l)
		}
	case learner:
		return errors.New("it was not made by a session")
	case size > 1<<28, r.Quick && (size > 1<<20 || v.Kind() == reflect.Map): // whose change meanwhile would end the process
		return errors.New("it is too large")
	case !copies(v.Type(), map[reflect.Type]bool{}):
		return errors.New("it cannot be copied")
	default:
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).EncodeValue(open(v)); err != nil {
			return err
		}
		s.Copy = b.Bytes()
	}
	return nil
}

// saveLearner writes a learner's state. Its tasks must come from sessions, which can make their streams again.
func (s *saved) saveLearner(dir string, l *pcl.Learner) error {
	s.State, s.Tasks = fmt.Sprintf("%p.learner", l), map[int]recipe.Recipe{}
	for _, info := range l.Tasks() {
		t, err := l.Task(info.ID)
		if err != nil {
			return err
		}
		made, ok := recipe.Of(t.Test)
		own := t.Stream != nil && !strings.HasSuffix(reflect.Indirect(reflect.ValueOf(t.Stream)).Type().PkgPath(), "parallelcl/pcl/data")
		if own || !ok && !info.Ended {
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

func init() {
	gob.Register(map[string]any{})
	gob.Register([]any{})
}

// copies says whether gob writes all of a value of this type, which has no end where a value leads to itself.
func copies(t reflect.Type, within map[reflect.Type]bool) bool {
	if within[t] {
		return false
	}
	within[t] = true
	defer delete(within, t)
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr:
		return false
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return copies(t.Elem(), within)
	case reflect.Map:
		return copies(t.Key(), within) && copies(t.Elem(), within)
	case reflect.Struct:
		if t.Implements(reflect.TypeFor[gob.GobEncoder]()) {
			return true
		}
		for f := range t.Fields() {
			toZero := f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() != reflect.Struct // may be, and would be nil
			if !f.IsExported() && f.PkgPath+"." != rt.CellPath || toZero || !copies(f.Type, within) {
				return false
			}
		}
	}
	return true
}

// open returns a pointer to a variable as one of a type in which all fields of cells' types are exported, since gob leaves out those that
// are not. Its memory is the same.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(opened(v.Type()), v.Addr().UnsafePointer())
}

func opened(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(opened(t.Elem()))
	case reflect.Slice:
		return reflect.SliceOf(opened(t.Elem()))
	case reflect.Array:
		return reflect.ArrayOf(t.Len(), opened(t.Elem()))
	case reflect.Map:
		return reflect.MapOf(opened(t.Key()), opened(t.Elem()))
	case reflect.Struct:
		if t.PkgPath() != "" && t.PkgPath()+"." != rt.CellPath || t.Implements(reflect.TypeFor[gob.GobEncoder]()) {
			return t // of which gob writes all
		}
		var fields []reflect.StructField
		for f := range t.Fields() {
			fields = append(fields, reflect.StructField{Name: "F_" + f.Name, Type: opened(f.Type)})
		}
		return reflect.StructOf(fields)
	}
	return t
}

// Restore gives variables the values that Save has written.
func (host) Restore(dir string, r *rt.Restored) error {
	f, err := os.Open(filepath.Join(dir, savedFile))
	if err != nil {
		return err
	}
	defer f.Close()
	var list []saved
	if err := gob.NewDecoder(f).Decode(&list); err != nil {
		return err
	}
	learners := map[string]any{} // by file
	for _, s := range list {
		v, ok := rt.Value(s.Name)
		if !ok {
			continue
		}
		if s.Zero {
			r.Zero = append(r.Zero, s.Name)
			continue
		}
		if err := foreign("it does not fit", func() error { return s.restore(dir, v, learners) }); err != nil {
			r.Failed = append(r.Failed, fmt.Sprintf("%s: %v", s.Name, err))
		} else {
			r.Names = append(r.Names, s.Name)
		}
	}
	return nil
}

func (s saved) restore(dir string, v reflect.Value, learners map[string]any) error {
	if s.Recipe == nil {
		return gob.NewDecoder(bytes.NewReader(s.Copy)).DecodeValue(open(v))
	}
	value, ok := learners[s.State]
	if !ok {
		var err error
		if value, err = recipe.Make(context.Background(), *s.Recipe); err != nil {
			return err
		}
	}
	if l, made := value.(*pcl.Learner); made && !ok {
		if err := l.Load(filepath.Join(dir, s.State), s.task); err != nil {
			l.Close()
			return err
		}
		learners[s.State] = l
	}
	v.Set(reflect.ValueOf(value)) // if the variable has another type now, this panics
	return nil
}

// task makes a task of a learner again.
func (s saved) task(id int) (pcl.Task, error) {
	r, ok := s.Tasks[id]
	if !ok {
		return pcl.Task{}, nil
	}
	made, err := recipe.Make(context.Background(), r)
	if err != nil {
		return pcl.Task{}, err
	}
	return made.(pcl.Task), nil
}
