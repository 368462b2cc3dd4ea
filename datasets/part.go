package datasets

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// part returns the SHA-256 of the official files of a set if they are only a part of those published, by the number of
// their samples. It is empty if they are complete, and if files are missing without which the set cannot be opened. Files
// are read if they are a part only, and again only if they changed since.
func (e *entry) part(ctx context.Context, dir string) (string, error) {
	if e.format == nil {
		return "", nil
	}
	p := officialFiles{dir: dir, format: e.format}
	for _, f := range e.Files {
		path, ok := locate(dir, f.Path)
		switch {
		case ok:
			p.files = append(p.files, placed{f, path})
		case f.optional:
			p.fewer = true
		default:
			return "", nil
		}
	}
	info, err := surveyed(ctx, e.Name+"\n"+dir, e.Info, &p)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return info.SHA256, err
}

// officialFiles are those files of a set of the catalogue that are in a data folder.
type officialFiles struct {
	dir    string
	files  []placed
	fewer  bool // some are missing
	format format
}

type placed struct {
	File
	path string
}

// stamp looks at folders of images instead of the many files in them: a folder has another time when a file comes or
// goes.
func (p *officialFiles) stamp(context.Context) (string, error) {
	stamp := ""
	for _, f := range p.files {
		root, err := filepath.EvalSymlinks(f.path) // WalkDir would see nothing behind a link
		if err != nil {
			return "", err
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path != root && !d.IsDir() {
				return err
			}
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			stamp += fmt.Sprintf("%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
			if d.IsDir() && d.Name() == "images" {
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return stamp, nil
}

// survey sets the checksum of the files, unless they are complete.
func (p *officialFiles) survey(ctx context.Context, i *Info) error {
	var all []string
	fewer := p.fewer
	for _, f := range p.files {
		if f.Samples == 0 {
			all = append(all, f.path)
			continue
		}
		n, files, err := p.format.count(f.path, f.File)
		if err != nil {
			return err
		}
		fewer = fewer || n != f.Samples
		all = append(all, files...)
	}
	if !fewer {
		return nil
	}
	sums, err := p.sums(ctx, all)
	i.SHA256 = checksum(sums)
	return err
}

// sums returns a line for each file, with its name and SHA-256.
func (p *officialFiles) sums(ctx context.Context, files []string) ([]string, error) {
	lines := make([]string, len(files))
	return lines, onAllCores(ctx, len(files), func() func(int) error {
		return func(i int) error {
			sum, err := sumFiles(ctx, files[i])
			if err != nil {
				return err
			}
			name, err := filepath.Rel(p.dir, files[i])
			lines[i] = fmt.Sprintf("%q %s\n", filepath.ToSlash(name), sum)
			return err
		}
	})
}

func checksum(lines []string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, ""))))
}
