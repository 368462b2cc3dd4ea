package rows

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"

	"github.com/parallelcl/parallelcl/internal/csvcell"
	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// Write writes the rows of one grid, with a line of names above. All must vary the same settings.
func Write(out io.Writer, all []*Row) error {
	var varied []string
	if len(all) > 0 {
		varied = all[0].varied()
	}
	behind := behind()
	name := func(c column) string { return c.name }
	lines := [][]string{slices.Concat(each(before, name), varied, each(behind, name))}
	for _, r := range all {
		if !slices.Equal(r.varied(), varied) {
			return fmt.Errorf("rows: %s varies %v and the first row %v", r.Cell, r.varied(), varied)
		}
		get := func(c column) string { return c.get(r) }
		values := each(r.Vary, func(s Setting) string { return s.Value })
		lines = append(lines, slices.Concat(each(before, get), values, each(behind, get)))
	}
	return csvcell.Write(out, slices.Values(lines))
}

func each[T any](all []T, text func(T) string) []string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = text(x)
	}
	return out
}

func (r *Row) varied() []string { return each(r.Vary, func(s Setting) string { return s.Name }) }

// parse reads what [Write] wrote, or package tables of runs. Columns with names that it does not
// know are what the grid varies.
func parse(in io.Reader) (out []*Row, err error) {
	lines, err := csvcell.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, errors.New("it has no line of names")
	}
	if slices.Contains(lines[0], "a_percent") {
		return ofRuns(lines)
	}
	head, err := header(lines[0])
	if err != nil {
		return nil, err
	}
	for i, line := range lines[1:] {
		r, err := read(head, lines[0], line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// header returns the columns of a line of names, nil for what is varied, which stands between the
// others.
func header(names []string) ([]*column, error) {
	known := slices.Concat(before, behind())
	out := make([]*column, len(names))
	n := 0
	for i := range known {
		at := slices.Index(names, known[i].name)
		switch {
		case at >= 0:
			out[at], n = &known[i], n+1
		case known[i].kind != further:
			return nil, fmt.Errorf("it has no column %q: pcl export csv of this version writes it", known[i].name)
		}
	}
	for i, name := range names {
		if out[i] == nil && (i < len(before) || i >= len(names)-(n-len(before))) {
			return nil, fmt.Errorf("its column %q is not known here: another version of pcl export csv wrote it", name)
		}
	}
	return out, nil
}

// read reads a line. The numbers that a result has to have are NaN until their columns are read.
func read(head []*column, names, line []string) (*Row, error) {
	nan := math.NaN()
	r := &Row{Run: &results.Run{A: nan, F: nan, AFirst: nan}}
	for i, value := range line {
		if head[i] == nil {
			r.Vary = append(r.Vary, Setting{names[i], value})
		} else if err := head[i].set(r, value); err != nil {
			return nil, err
		}
	}
	switch r.State {
	case Done:
		return r, r.Run.Check()
	case Failed, Missing:
		r.Run = nil
		return r, nil
	}
	return nil, fmt.Errorf("state is %q; want %s, %s or %s", r.State, Done, Failed, Missing)
}

// Files reads files and, of folders, all that end in .csv, by name.
func Files(paths ...string) ([]*Row, error) {
	var out []*Row
	for _, name := range paths {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		var all []*Row
		if info.IsDir() {
			all, err = Folder(os.DirFS(name))
		} else {
			all, err = readFile(regular.Open(name))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, all...)
	}
	return out, nil
}

// Folder reads all files of a folder that end in .csv, by name.
func Folder(folder fs.FS) (out []*Row, err error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, err
	}
	files := 0
	for _, e := range entries {
		if path.Ext(e.Name()) != ".csv" {
			continue
		}
		all, err := readFile(folder.Open(e.Name()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		files++
		out = append(out, all...)
	}
	if files == 0 {
		return nil, errors.New("it has no file that ends in .csv")
	}
	return out, nil
}

// readFile reads a file that has been opened, and closes it.
func readFile[F fs.File](f F, err error) ([]*Row, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parse(f)
}
