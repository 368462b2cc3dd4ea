package host

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/kernel/rt"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
	"github.com/parallelcl/parallelcl/internal/recipe"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/viz/nb"
)

// saved is what another process needs to give a variable its value.
type saved struct {
	Name   string
	Recipe *recipe.Recipe         `json:",omitempty"` // how it was made; nil for a copied value
	File   string                 `json:",omitempty"` // its value, or the state of a learner
	JSON   bool                   `json:",omitempty"` // whether the value is in JSON, not gob
	Tasks  map[int]*recipe.Recipe `json:",omitempty"` // of a learner
}

// savedFile lists what was saved in a folder.
const savedFile = "saved.json"

// save writes variables into a folder, for the process that takes the place of this one. The answer lists those that
// could not be saved; of learners it says why.
func save(r wire.Request, auto bool) {
	dir, a := r.Path, wire.Answer{ID: r.ID}
	var list []saved
	files := map[uintptr]string{} // of learners that several variables share
	for _, name := range r.List {
		v, ok := rt.Variable(name)
		if !ok || v.IsZero() {
			continue
		}
		s, err := saveOne(dir, name, v, files, auto)
		_, learner := v.Interface().(*pcl.Learner)
		_, training := v.Interface().(*nb.Training) // which calls what cells have declared
		switch {
		case err == nil:
			list = append(list, s)
		case learner, training:
			a.Learners = append(a.Learners, name+": "+err.Error())
		default:
			a.List = append(a.List, name)
		}
	}
	data, err := json.Marshal(list)
	if err == nil {
		err = atomicfile.WriteBytes(filepath.Join(dir, savedFile), data)
	}
	if err != nil {
		a.Error = err.Error()
	}
	say(a)
}

func saveOne(dir, name string, v reflect.Value, files map[uintptr]string, auto bool) (s saved, err error) {
	defer func() {
		if p := recover(); p != nil { // a cell or a goroutine changes the value meanwhile
			err = fmt.Errorf("%v", p)
		}
	}()
	s.Name = name
	if l, ok := v.Interface().(*pcl.Learner); ok {
		return saveLearner(dir, s, l, files)
	}
	if r, ok := recipe.Of(v.Interface()); ok {
		s.Recipe = &r
		return s, nil
	}
	s.File = name + ".value"
	size := sizeOf(v, map[uintptr]bool{}, 0)
	// A goroutine that writes to a map meanwhile would end the process.
	if size > 1<<28 || auto && (size > 1<<20 || v.Kind() == reflect.Map) {
		return s, errors.New("it is too large")
	}
	path := filepath.Join(dir, s.File)
	if copies(v.Type(), map[reflect.Type]bool{}) {
		return s, atomicfile.Write(path, func(w io.Writer) error { return gob.NewEncoder(w).EncodeValue(v) })
	}
	s.JSON = true
	return s, saveJSON(path, v)
}

// saveJSON writes a value as JSON if that says all of it.
func saveJSON(path string, v reflect.Value) error {
	data, err := json.Marshal(v.Interface())
	if err != nil {
		return err
	}
	again := reflect.New(v.Type())
	if err := json.Unmarshal(data, again.Interface()); err != nil {
		return err
	}
	if !reflect.DeepEqual(again.Elem().Interface(), v.Interface()) {
		return errors.New("it cannot be copied")
	}
	return atomicfile.WriteBytes(path, data)
}

// saveLearner writes a learner's state. Its tasks must come from sessions, which can make their streams again.
func saveLearner(dir string, s saved, l *pcl.Learner, files map[uintptr]string) (saved, error) {
	r, ok := recipe.Of(l)
	if !ok {
		return s, errors.New("it was not made by a session")
	}
	s.Recipe, s.Tasks = &r, map[int]*recipe.Recipe{}
	for _, info := range l.Tasks() {
		t, err := l.Task(info.ID)
		if err != nil {
			return s, err
		}
		r, ok := recipe.Of(t.Test)
		own := t.Stream != nil && !strings.HasSuffix(reflect.Indirect(reflect.ValueOf(t.Stream)).Type().PkgPath(), "parallelcl/pcl/data")
		if own || !ok && !info.Ended {
			return s, fmt.Errorf("the stream of task %d (%s) cannot be made again", info.ID, info.Name)
		}
		if ok {
			s.Tasks[info.ID] = &r
		}
	}
	at := reflect.ValueOf(l).Pointer()
	if s.File, ok = files[at]; ok {
		return s, nil
	}
	s.File = s.Name + ".learner"
	files[at] = s.File
	return s, l.Save(filepath.Join(dir, s.File))
}

// copies says whether gob writes all of a value of this type. It also writes the fields of cells' own types, which JSON hides.
func copies(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer, reflect.Uintptr:
		return false
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return copies(t.Elem(), seen)
	case reflect.Map:
		return copies(t.Key(), seen) && copies(t.Elem(), seen)
	case reflect.Struct:
		if t.Implements(reflect.TypeFor[gob.GobEncoder]()) {
			return true
		}
		for f := range t.Fields() {
			if !f.IsExported() || !copies(f.Type, seen) {
				return false
			}
		}
	}
	return true
}

// restore gives variables the values that save has written. The answer lists what failed.
func restore(r wire.Request) {
	a := wire.Answer{ID: r.ID}
	var list []saved
	data, err := os.ReadFile(filepath.Join(r.Path, savedFile))
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		a.Error = err.Error()
	}
	values := map[string]reflect.Value{} // of learners, by file
	for _, s := range list {
		v, ok := rt.Variable(s.Name)
		if !ok {
			continue
		}
		if err := restoreOne(r.Path, s, v, values); err != nil {
			a.List = append(a.List, fmt.Sprintf("%s: %v", s.Name, err))
		} else {
			a.Names = append(a.Names, s.Name)
		}
	}
	say(a)
}

func restoreOne(dir string, s saved, v reflect.Value, values map[string]reflect.Value) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	if s.Recipe == nil {
		f, err := os.Open(filepath.Join(dir, s.File))
		if err != nil {
			return err
		}
		defer f.Close()
		if s.JSON {
			return json.NewDecoder(f).Decode(v.Addr().Interface())
		}
		return gob.NewDecoder(f).DecodeValue(v)
	}
	again, known := values[s.File]
	if s.File == "" || !known {
		made, err := s.Recipe.Make(context.Background())
		if err != nil {
			return err
		}
		again = reflect.ValueOf(made)
		if l, ok := made.(*pcl.Learner); ok {
			if err := l.Load(filepath.Join(dir, s.File), s.attach); err != nil {
				l.Close()
				return err
			}
			values[s.File] = again
		}
	}
	if !again.Type().AssignableTo(v.Type()) {
		return fmt.Errorf("it has another type now, %s", v.Type())
	}
	v.Set(again)
	return nil
}

// attach makes a task of a learner again.
func (s saved) attach(id int) (pcl.Task, error) {
	r, ok := s.Tasks[id]
	if !ok {
		return pcl.Task{}, nil
	}
	t, err := r.Make(context.Background())
	if err != nil {
		return pcl.Task{}, err
	}
	return t.(pcl.Task), nil
}
