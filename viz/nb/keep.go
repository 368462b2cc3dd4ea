package nb

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/origin"
)

// keptDir is where kept values lie: beside the notebook, with its other results.
const keptDir = "runs/kept"

// Keep returns a value that takes long to compute or to fetch. The first cell that asks for the name calls
// fill and stores the result in a file; later cells, also after a restart, read it from there if fill is the same code:
//
//	set, err := nb.Keep("set", func() (*datasets.Dataset, error) { return datasets.Open(ctx, "glyphs", datasets.Options{}) })
//
// The file is written with encoding/gob, so only exported fields are kept. If fill fails, its error is
// returned and nothing is kept. The value is computed again if fill has changed, or anything of the notebook that fill uses,
// what the notebook registers, or the module; what was kept before stays until [Forget], and is there again when the code is.
// Keep does not know what fill reads from files, nor the arguments of a function around fill: what
// the value depends on there belongs into its name.
func Keep[T any](name string, fill func() (T, error)) (T, error) {
	return keep(name, decode[T], fill, func(path string, v T) error {
		return atomicfile.Write(path, func(w io.Writer) error { return gob.NewEncoder(w).Encode(v) })
	})
}

// KeepSaved is [Keep] for a value that saves itself to a file, such as a learner, from which load restores it:
//
//	l, err := nb.KeepSaved("trained", func(path string) (*pcl.Learner, error) {
//		l, err := g.Learner(ctx, config)
//		if err != nil {
//			return nil, err
//		}
//		return l, l.Load(path, task)
//	}, train)
func KeepSaved[T interface{ Save(path string) error }](name string, load func(path string) (T, error), fill func() (T, error)) (T, error) {
	return keep(name, load, fill, func(path string, v T) error {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		return v.Save(path)
	})
}

// Forget deletes the kept values of these names, or all if no name is given.
func Forget(names ...string) error {
	if len(names) == 0 {
		return report(os.RemoveAll(keptDir))
	}
	for _, name := range names {
		paths, err := keptPaths(name)
		for _, path := range paths {
			err = errors.Join(err, os.Remove(path))
		}
		if err != nil {
			return report(err)
		}
	}
	return nil
}

var errStale = errors.New("its file is damaged, or of an older program")

func keep[T any](name string, load func(path string) (T, error), fill func() (T, error), save func(path string, v T) error) (T, error) {
	var none T
	before, err := keptPaths(name)
	if err != nil {
		return none, report(err)
	}
	code, err := origin.Function(fill)
	if err != nil {
		return none, report(fmt.Errorf("nb: keep %q: %w", name, err))
	}
	path := filepath.Join(filepath.FromSlash(keptDir), name+codeMark+code)
	if info, err := os.Stat(path); err == nil {
		v, err := load(path)
		if err == nil {
			say("%s: kept since %s", name, info.ModTime().Format(time.DateTime))
			return v, nil
		}
		if !errors.Is(err, errStale) {
			return none, report(fmt.Errorf("nb: read %q back: %w (nb.Forget(%q) has it made anew)", name, err, name))
		}
		say("%s: made anew, since %v", name, err)
	} else if len(before) > 0 {
		say("%s: made anew, since other code has made what is kept (nb.Forget(%q) deletes that)", name, name)
	}
	v, err := fill()
	if err != nil {
		return none, err
	}
	if err := save(path, v); err != nil {
		return none, report(fmt.Errorf("nb: keep %q: %w", name, err))
	}
	return v, nil
}

// codeMark stands in the name of a file between the name of a value and the hash of the code that made it.
const codeMark = "~"

// keptPaths are the files of a name. Those of older programs do not say what code made them.
func keptPaths(name string) (paths []string, err error) {
	if name == "" || name == "." || name != filepath.Base(name) || !filepath.IsLocal(name) {
		return nil, fmt.Errorf("nb: nothing can be kept as %q: give it a name that a file can have", name)
	}
	entries, err := os.ReadDir(keptDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if mark := strings.LastIndex(e.Name(), codeMark); e.Name() == name || mark >= 0 && e.Name()[:mark] == name {
			paths = append(paths, filepath.Join(keptDir, e.Name()))
		}
	}
	return paths, nil
}

// decode reads what [Keep] wrote.
func decode[T any](path string) (v T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer f.Close()
	if gob.NewDecoder(f).Decode(&v) != nil {
		return v, errStale
	}
	return v, nil
}

// say tells the reader of a notebook where a value comes from.
func say(format string, args ...any) {
	if inNotebook() {
		fmt.Printf(format+"\n", args...)
	}
}
