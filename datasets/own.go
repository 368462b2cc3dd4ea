package datasets

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// own are files of the user's that make a set.
type own interface {
	surveyor
	// open fills in the set.
	open(ctx context.Context, d *Dataset) error
}

// A scheme is a kind of files, the part of a name before the colon.
type scheme struct {
	name, pattern string
	parse         func(path string, given map[string]any) (own, error)
}

var ownSchemes = []scheme{
	{"folder", "folder:PATH", parseFolder},
	{"npz", "npz:PATH", parseNPZ},
	{"safetensors", "safetensors:PATH", parseSafetensors},
	{"csv", "csv:PATH", parseCSV},
}

func schemes() []string {
	var patterns []string
	for _, s := range ownSchemes {
		patterns = append(patterns, s.pattern)
	}
	return patterns
}

// ownFiles returns the set that the files of a name such as "folder:photos?size=32x32" make, or nil if the name is not
// of this kind.
func ownFiles(name string) (*entry, error) {
	kind, rest, ok := strings.Cut(name, ":")
	at := slices.IndexFunc(ownSchemes, func(s scheme) bool { return s.name == kind })
	if !ok || at < 0 {
		return nil, nil
	}
	path, query := pathAndQuery(rest)
	if path == "" {
		return nil, &nameError{fmt.Sprintf("%q names no file: want %s", name, ownSchemes[at].pattern)}
	}
	given, err := queried(query)
	var files own
	if err == nil {
		files, err = ownSchemes[at].parse(path, given)
	}
	if err != nil {
		return nil, &nameError{fmt.Sprintf("%q: %v", name, err)}
	}
	base := filepath.Base(filepath.Clean(path))
	if abs, err := filepath.Abs(path); err == nil {
		base = filepath.Base(abs)
	}
	e := &entry{Info: Info{Name: name, Title: strings.ToValidUTF8(base, "?"), Source: path, Licence: "your own files"}}
	e.open = func(ctx context.Context, d *Dataset, _ Options) error { return files.open(ctx, d) }
	e.survey = func(ctx context.Context, _ Options) (Info, error) { return surveyed(ctx, e.Name, e.Info, files) }
	return e, nil
}

// Inspect says what is known about the set of that name: how many classes, of what size, and for files of your own
// also how many training samples and the checksum of the files. For that it reads them, but again only if they
// changed since. Of the official files of a set of the catalogue it reads all only if they are not complete.
func Inspect(ctx context.Context, name string, o Options) (Info, error) {
	e, err := find(name)
	if err != nil {
		return Info{}, err
	}
	if e.survey == nil {
		return e.inspect(ctx, o)
	}
	i, err := e.survey(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return Info{}, context.Cause(ctx)
		}
		return Info{}, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if i.Image = sizeOf(i.Height, i.Width, i.Channels, i.Vector); i.Height == 0 && i.Vector == 0 {
		i.Image = ""
	}
	return i, nil
}

// inspect is [Inspect] for a set that needs no survey.
func (e *entry) inspect(ctx context.Context, o Options) (Info, error) {
	i := e.info()
	dir, err := o.dir()
	if err != nil {
		return i, nil // there are no files then
	}
	i.SHA256, _ = e.part(ctx, dir) // files that cannot be read are named by Open
	if ctx.Err() != nil {
		return Info{}, context.Cause(ctx)
	}
	return i, nil
}

// Own reports whether a name stands for files of the user's own, such as "folder:photos".
func Own(name string) bool {
	kind, _, ok := strings.Cut(name, ":")
	return ok && slices.ContainsFunc(ownSchemes, func(s scheme) bool { return s.name == kind })
}

// OwnPath returns the path in such a name, without what says how the files are read; "" for any other name.
func OwnPath(name string) string {
	if !Own(name) {
		return ""
	}
	_, rest, _ := strings.Cut(name, ":")
	path, _ := pathAndQuery(rest)
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

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// statFile returns what there is at path, where a regular file must be: opening a pipe would wait for its writer.
func statFile(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; a file is wanted", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file (%v)", path, info.Mode().Type())
	}
	return info, nil
}
