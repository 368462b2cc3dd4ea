package rows

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"

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
	name := func(c column) string { return c.name }
	lines := [][]string{slices.Concat(each(place, name), varied, each(outcome, name))}
	for _, r := range all {
		if !slices.Equal(r.varied(), varied) {
			return fmt.Errorf("rows: %s varies %v and the first row %v", r.Cell, r.varied(), varied)
		}
		value := func(c column) string { return c.get(r) }
		lines = append(lines, slices.Concat(each(place, value), each(r.Vary, func(s Setting) string { return s.Value }), each(outcome, value)))
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

// parse reads what [Write] wrote, or package tables of runs. Columns with names that it does not know are what the grid varies.
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

// header returns the columns of a line of names, nil for what is varied, which stands between the place and the outcome.
func header(names []string) ([]*column, error) {
	known := slices.Concat(place, outcome)
	out := make([]*column, len(names))
	for i := range known {
		at := slices.Index(names, known[i].name)
		if at < 0 {
			return nil, fmt.Errorf("it has no column %q: pcl export csv of this version writes it", known[i].name)
		}
		out[at] = &known[i]
	}
	for i, name := range names {
		if out[i] == nil && (i < len(place) || i >= len(names)-len(outcome)) {
			return nil, fmt.Errorf("its column %q is not known here: another version of pcl export csv wrote it", name)
		}
	}
	return out, nil
}

func read(head []*column, names, line []string) (*Row, error) {
	r := &Row{Result: none()}
	for i, value := range line {
		if head[i] == nil {
			r.Vary = append(r.Vary, Setting{names[i], value})
		} else if err := head[i].set(r, value); err != nil {
			return nil, err
		}
	}
	switch r.State {
	case Done:
		return r, r.check()
	case Failed, Missing:
		return r, nil
	}
	return nil, fmt.Errorf("state is %q; want %s, %s or %s", r.State, Done, Failed, Missing)
}

// check returns an error if a result has a number that no run can have, or lacks one.
func (r *Row) check() error {
	run := results.Run{A: r.A, F: r.F, AFirst: r.AFirst, Steps: r.Steps, Skipped: r.Skipped, Curve: r.curve()}
	if r.Diverged != "" {
		at, err := strconv.Atoi(r.Diverged)
		if err != nil {
			return fmt.Errorf("diverged_at: %w", err)
		}
		run.DivergedAt = &at
	}
	return run.Check()
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
