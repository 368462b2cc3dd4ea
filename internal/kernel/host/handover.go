package host

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

// saved is what another process needs to give a variable its value.
type saved struct {
	Name string
	Zero bool   // its value is the one that it has anyway
	Made []byte // how the module makes the value again
	Copy []byte // or else a copy, in gob
}

// savedFile lists what was saved in a folder.
const savedFile = "saved"

// Save writes variables into a folder, for the process that takes the place of this one.
func (h host) Save(r rt.Saving, lost *rt.Lost) error {
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
		err := foreign("it is being changed", func() error { return h.save(&s, r, v) })
		switch {
		case err == nil:
			list = append(list, s)
		case h.module.Precious(v.Interface()):
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

func (h host) save(s *saved, r rt.Saving, v reflect.Value) (err error) {
	if s.Made, err = h.module.Save(r.Dir, v.Interface()); err != nil || s.Made != nil {
		return err
	}
	switch size := sizeOf(v, 6); {
	case size > 1<<28, r.Quick && (size > 1<<20 || v.Kind() == reflect.Map):
		// whose change meanwhile would end the process
		return errors.New("it is too large")
	case !copies(v.Type(), map[reflect.Type]bool{}):
		return errors.New("it cannot be copied")
	}
	var b bytes.Buffer
	err = gob.NewEncoder(&b).EncodeValue(open(v))
	s.Copy = b.Bytes()
	return err
}

func init() {
	gob.Register(map[string]any{})
	gob.Register([]any{})
}

// copies says whether gob writes all of a value of this type, which has no end where a value leads
// to itself.
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

// open returns a pointer to a variable as one of a type in which all fields of cells' types are
// exported, since gob leaves out those that are not. Its memory is the same.
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
func (h host) Restore(dir string, r *rt.Restored) error {
	f, err := os.Open(filepath.Join(dir, savedFile))
	if err != nil {
		return err
	}
	defer f.Close()
	var list []saved
	if err := gob.NewDecoder(f).Decode(&list); err != nil {
		return err
	}
	restore := h.module.Restorer(dir)
	for _, s := range list {
		v, ok := rt.Value(s.Name)
		if !ok {
			continue
		}
		if s.Zero {
			r.Zero = append(r.Zero, s.Name)
			continue
		}
		if err := foreign("it does not fit", func() error { return s.give(v, restore) }); err != nil {
			r.Failed = append(r.Failed, fmt.Sprintf("%s: %v", s.Name, err))
		} else {
			r.Names = append(r.Names, s.Name)
		}
	}
	return nil
}

// give gives a variable its value.
func (s saved) give(v reflect.Value, restore func(made []byte) (any, error)) error {
	if s.Made == nil {
		return gob.NewDecoder(bytes.NewReader(s.Copy)).DecodeValue(open(v))
	}
	value, err := restore(s.Made)
	if err == nil {
		v.Set(reflect.ValueOf(value)) // if the variable has another type now, this panics
	}
	return err
}
