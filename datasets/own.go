package datasets

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// A scheme is a kind of files of the user's that make a set, the part of a name before the colon.
type scheme struct {
	name  string
	parse func(path string, given map[string]any) source
}

var ownSchemes = []scheme{{"folder", parseFolder}, {"npz", parseNPZ}, {"safetensors", parseSafetensors}, {"csv", parseCSV}}

// schemes are names of sets, for errors.
func schemes() (patterns []string) {
	for _, s := range ownSchemes {
		patterns = append(patterns, s.name+":PATH")
	}
	return patterns
}

// parts returns the parts of a name such as "folder:photos?size=32x32"; the scheme is nil if the name is not of this kind.
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
func ownFiles(name string) *entry {
	s, path, query := parts(name)
	if s == nil {
		return nil
	}
	var files source
	err := fail.Tried(func() {
		fail.When(path == "", "it names no file; want %s:PATH", s.name)
		files = s.parse(path, queried(query))
	})
	fail.When(err != nil, "%w: %q: %w", ErrName, name, err)
	base := filepath.Base(path)
	if abs, err := filepath.Abs(path); err == nil {
		base = filepath.Base(abs)
	}
	return &entry{Info: Info{Name: name, Title: strings.ToValidUTF8(base, "?"), Source: path, Licence: "your own files"},
		source: func(Options) source { return files }}
}

// queried reads what stands behind the question mark of a name, such as size=32x32&channels=3.
func queried(query string) map[string]any {
	all, err := url.ParseQuery(query)
	fail.When(err != nil, "the parameters %q: %w", query, err)
	given := map[string]any{}
	for name, values := range all {
		fail.When(len(values) > 1, "the parameter %s is given %d times", name, len(values))
		given[name] = values[0]
	}
	return given
}

// withParameters returns what a struct declares, with the given values and the defaults of the others.
func withParameters[T any](given map[string]any) (out T) {
	fail.If(params.Decode(&out, given))
	return out
}

// splitting says which samples are for testing, of files that are not split already.
type splitting struct {
	Test float64 `param:"test" default:"0.2" range:"(0,1)" doc:"share of each class that is for testing"`
	Seed uint64  `param:"seed" default:"0" doc:"another seed chooses other test samples"`
}

// refuse ends with an error if files that are split already have a name that says how to.
func (s splitting) refuse() {
	fail.When(s != withParameters[splitting](nil), "there are test samples: the parameters test and seed, which split samples that are not, do not apply")
}

// own reports whether a name stands for files of the user's own, such as "folder:photos".
func own(name string) bool {
	s, _, _ := parts(name)
	return s != nil
}

// OwnPath returns the path in the name of files of the user's own, without what says how the files are read; "" for any other name.
func OwnPath(name string) string {
	_, path, _ := parts(name)
	return path
}

// pathAndQuery cuts a text such as "photos?size=32x32" at its last question mark, unless there is a file of that whole
// name. A path may be written with %3F for a question mark, unless there is a file with that in its name.
func pathAndQuery(text string) (path, query string) {
	if i := strings.LastIndexByte(text, '?'); i >= 0 && !exists(text) {
		text, query = text[:i], text[i+1:]
	}
	if plain, err := url.PathUnescape(text); err == nil && !exists(text) && exists(plain) {
		text = plain
	}
	return text, query
}
