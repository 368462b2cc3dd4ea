package datasets

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
)

// A counter says how many samples a file or folder of the catalogue has, without reading them, and which files they are
// in.
type counter func(path string, f File) (samples int, files []string, err error)

// part returns the SHA-256 of the files of a set of the catalogue if they are only a part of the official ones, by the
// number of their samples. It is empty if they are complete, and if files are missing without which the set cannot be
// opened. Files are read if they are a part only, and again only if they changed since.
func (e *entry) part(ctx context.Context, dir string) (string, error) {
	if e.count == nil {
		return "", nil
	}
	p := official{dir: dir, count: e.count}
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

// official is those files of a set of the catalogue that are in a data folder.
type official struct {
	dir   string
	files []placed
	fewer bool // some are missing
	count counter
}

type placed struct {
	File
	path string
}

// stamp looks at folders of images instead of the many files in them: a folder has another time when a file comes or
// goes.
func (p *official) stamp(context.Context) (string, error) {
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
func (p *official) survey(ctx context.Context, i *Info) error {
	var all []string
	fewer := p.fewer
	for _, f := range p.files {
		if f.Samples == 0 {
			all = append(all, f.path)
			continue
		}
		n, files, err := p.count(f.path, f.File)
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

// sums returns a line for each file, with its name and SHA-256. Files are read on all cores: there can be many.
func (p *official) sums(ctx context.Context, files []string) ([]string, error) {
	lines := make([]string, len(files))
	workers := runtime.GOMAXPROCS(0)
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		g.Go(func() error {
			for i := w; i < len(files); i += workers {
				sum, err := sumFiles(ctx, files[i])
				if err != nil {
					return err
				}
				name, err := filepath.Rel(p.dir, files[i])
				if err != nil {
					return err
				}
				lines[i] = fmt.Sprintf("%q %s\n", filepath.ToSlash(name), sum)
			}
			return nil
		})
	}
	return lines, g.Wait()
}

func checksum(lines []string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, ""))))
}

func countIDX(path string, f File) (int, []string, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer file.Close()
	in, _, err := unpackedIDX(bufio.NewReader(file))
	if err != nil {
		return 0, nil, err
	}
	dims, _, err := idxHeader(in, idxDims(f.Path))
	if err != nil {
		return 0, nil, err
	}
	return dims[0], []string{path}, nil
}

func countCIFAR10(path string, _ File) (int, []string, error)  { return countCIFAR(path, 1) }
func countCIFAR100(path string, _ File) (int, []string, error) { return countCIFAR(path, 2) }

func countCIFAR(path string, labelBytes int64) (int, []string, error) {
	info, err := statFile(path)
	if err != nil {
		return 0, nil, err
	}
	return int(info.Size() / (labelBytes + cifarPixels)), []string{path}, nil
}

func countTiny(path string, f File) (int, []string, error) {
	dir, list := filepath.Dir(path), tinyTrain
	if strings.HasSuffix(f.Path, "/val/images/") {
		dir, list = filepath.Dir(dir), tinyVal
	}
	wnids, err := readWNIDs(dir)
	if err != nil {
		return 0, nil, err
	}
	images, err := list(dir, wnids)
	var files []string
	for _, image := range images {
		files = append(files, image.path)
	}
	return len(files), files, err
}
