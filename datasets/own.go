package datasets

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/alike"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// A scheme is a kind of files of the user's that make a set, the part of a name before the colon.
type scheme struct {
	name  string
	parse func(path string, given map[string]any) (source, error)
}

var ownSchemes = []scheme{
	{"folder", parseFolder}, {"npz", parseNPZ}, {"safetensors", parseSafetensors}, {"csv", parseCSV},
}

// schemes are names of sets, for errors.
func schemes() (patterns []string) {
	for _, s := range ownSchemes {
		patterns = append(patterns, s.name+":PATH")
	}
	return patterns
}

// parts returns the parts of a name such as "folder:photos?size=32x32"; the scheme is nil if the
// name is not of this kind.
func parts(name string) (s *scheme, path, query string) {
	kind, rest, ok := strings.Cut(name, ":")
	at := slices.IndexFunc(ownSchemes, func(s scheme) bool { return s.name == kind })
	if !ok || at < 0 {
		return nil, "", ""
	}
	path, query = pathAndQuery(rest)
	return &ownSchemes[at], path, query
}

// ownFiles returns the set that the files of a name make, or nil if the name is not of this kind.
func ownFiles(name string) (*entry, error) {
	s, path, query := parts(name)
	if s == nil {
		return nil, nil
	}
	if path == "" {
		return nil, fmt.Errorf("%w: %q: it names no file; want %s:PATH", ErrName, name, s.name)
	}
	given, err := queried(query)
	var files source
	if err == nil {
		files, err = s.parse(path, given)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrName, name, err)
	}
	base := filepath.Base(path)
	if abs, err := filepath.Abs(path); err == nil {
		base = filepath.Base(abs)
	}
	return &entry{Info: Info{Name: name, Title: strings.ToValidUTF8(base, "?"), Source: path, Licence: "your own files"},
		source: func(o Options) source {
			if f, ok := files.(*folder); ok {
				f.side = o.Side
			}
			return files
		}}, nil
}

// nameHint ends the error that a file is missing, if there is one whose name looks the same.
func nameHint(path string) string {
	path = filepath.Clean(path)
	entries, _ := os.ReadDir(filepath.Dir(path))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return alike.Hint(filepath.Base(path), names)
}

// queried reads what stands behind the question mark of a name, such as size=32x32&channels=3.
func queried(query string) (map[string]any, error) {
	all, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("the parameters %q: %w", query, err)
	}
	given := map[string]any{}
	for name, values := range all {
		if len(values) > 1 {
			return nil, fmt.Errorf("the parameter %s is given %d times", name, len(values))
		}
		given[name] = values[0]
	}
	return given, nil
}

// withParameters returns what a struct declares, with the given values and the defaults of the
// others.
func withParameters[T any](given map[string]any) (out T, err error) {
	err = params.Decode(&out, given)
	return out, err
}

const defaultTest = 0.2 // as splitting declares

// splitting says which samples are for testing, of files that are not split already.
type splitting struct {
	Test float64 `param:"test" default:"0.2" range:"(0,1)" doc:"share of each class that is for testing"`
	Seed uint64  `param:"seed" default:"0" doc:"another seed chooses other test samples"`
}

// refuse returns an error if files that are split already have a name that says how to.
func (s splitting) refuse() error {
	if s == (splitting{Test: defaultTest}) {
		return nil
	}
	return errors.New("there are test samples: the parameters test and seed, which split samples that are not, do " +
		"not apply")
}

// OwnPath returns the path in the name of files of the user's own, without what says how the files
// are read; "" for any other name.
func OwnPath(name string) string {
	_, path, _ := parts(name)
	return path
}

// pathAndQuery cuts a text such as "photos?size=32x32" at its last question mark, unless there is a
// file of that whole name. A path may be written with %3F for a question mark, unless there is a
// file with that in its name.
func pathAndQuery(text string) (path, query string) {
	if i := strings.LastIndexByte(text, '?'); i >= 0 && !exists(text) {
		text, query = text[:i], text[i+1:]
	}
	if plain, err := url.PathUnescape(text); err == nil && !exists(text) && exists(plain) {
		text = plain
	}
	return text, query
}
