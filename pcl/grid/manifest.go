package grid

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/origin"
)

// Manifest is a grid that is ready to be run: its rows, and the complete configuration of every cell.
type Manifest struct {
	Schema  int       `json:"schema"`
	Name    string    `json:"name"` // e.g. "table1-smoke"
	Title   string    `json:"title"`
	Paper   string    `json:"paper,omitempty"`
	Size    string    `json:"size"`
	Tuned   string    `json:"tuned,omitempty"` // where the methods' values are from, if they are not the published ones
	Planned time.Time `json:"planned"`
	// Program is what the IDs of the cells are made of, and Build the program that makes them. They differ only if
	// the user said that Build computes what Program did; see [PlanOptions].
	Program string  `json:"program"`
	Build   string  `json:"build"`
	Compute Compute `json:"compute"`
	Rows    []Row   `json:"rows"`
	Cells   []Cell  `json:"cells"` // in the order in which one process makes them
	Sum     string  `json:"sum"`   // of the above, so that a change is noticed

	// Dropped is how many places the plan of this name that was there before has, and this one has not.
	Dropped int `json:"-"`
	// Unused is how many finished cells that plan has, and this one has not.
	Unused int `json:"-"`
}

const manifestSchema = 1

// PlanOptions say how the cells of a grid are to be computed.
type PlanOptions struct {
	Compute Compute
	// Program, if set, names the cells as another program did, so that its results are used. The caller vouches for
	// it that both compute the same.
	Program string
}

// Plan expands a grid and writes its manifest to the folder. If the grid was planned there before, the manifest is
// replaced; cells that are the same as before keep their results.
func (f Folder) Plan(g *Grid, o PlanOptions) (*Manifest, error) {
	if g == nil {
		return nil, errors.New("grid: none was given to plan")
	}
	how, err := o.Compute.checked()
	if err != nil {
		return nil, err
	}
	build, err := origin.Program()
	if err != nil {
		return nil, err
	}
	m := &Manifest{
		Schema: manifestSchema, Name: g.Name, Title: g.Title, Paper: g.Paper, Size: g.Size, Tuned: g.tuned.source(), Planned: time.Now(),
		Program: build, Build: build, Compute: how,
	}
	if o.Program != "" {
		m.Program = o.Program
	}
	if err := m.fill(g); err != nil {
		return nil, fmt.Errorf("grid %s: %w", g.Name, err)
	}
	index, err := f.Index()
	if err != nil {
		return nil, err
	}
	if err := m.measure(index.times); err != nil {
		return nil, err
	}
	if before, err := f.Manifest(g.Name); err == nil {
		m.Dropped, m.Unused = m.lacks(before), m.leaves(before, index)
	}
	return m, m.save(f)
}

// lacks counts the places of another manifest that this one does not have.
func (m *Manifest) lacks(other *Manifest) (n int) {
	own := map[string]bool{}
	for _, r := range m.Rows {
		own[r.place()] = true
	}
	for _, r := range other.Rows {
		if !own[r.place()] {
			n++
		}
	}
	return n
}

// leaves counts the finished cells of another manifest that this one does not have.
func (m *Manifest) leaves(other *Manifest, index *Index) (n int) {
	own := map[string]bool{}
	for _, c := range m.Cells {
		own[c.ID] = true
	}
	for _, c := range other.Cells {
		if now, _ := index.state(c.ID); now == completed && !own[c.ID] {
			n++
		}
	}
	return n
}

// placeOf says in a few words which place of the grid a cell is for, the first if there are several.
func (m *Manifest) placeOf(c Cell) string {
	i := slices.IndexFunc(m.Rows, func(r Row) bool { return r.Cell == c.ID })
	if i < 0 {
		return c.name()
	}
	r := m.Rows[i]
	method := r.Method
	if v := r.Variant(); v != "" {
		method += ", " + v
	}
	return runName(method, r.Dataset, r.Increment, r.LabelSet, r.Timeline, r.Seed)
}

// place tells a row from the others of its grid.
func (r Row) place() string {
	return fmt.Sprintf("%q %q %q %q %d %d %d", r.Dataset, r.Increment, r.Method, r.Variant(), r.LabelSet, r.Timeline, r.Seed)
}

// fill makes the rows and cells.
func (m *Manifest) fill(g *Grid) error {
	rows, configs, err := g.expand()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for i, c := range configs {
		id, err := cellID(c, m.Program, m.Compute)
		if err != nil {
			return err
		}
		rows[i].Cell = id
		if !known[id] {
			known[id] = true
			cell := Cell{ID: id, Config: c}
			if c.InitFile != "" { // workers may be started elsewhere
				if cell.InitFile, err = filepath.Abs(c.InitFile); err != nil {
					return err
				}
			}
			m.Cells = append(m.Cells, cell)
		}
	}
	m.Rows = rows
	return nil
}

// measure fills in the times that cells are expected to take.
func (m *Manifest) measure(known *estimates) error {
	for i := range m.Cells {
		kind, wider, err := kinds(m.Cells[i].Config, m.Compute)
		if err != nil {
			return err
		}
		m.Cells[i].Seconds = known.of(kind, wider).mean
	}
	return nil
}

// sum is the hash of the manifest without the hash.
func (m *Manifest) sum() (string, error) {
	plain := *m
	plain.Sum = ""
	return hash(plain)
}

func (m *Manifest) save(f Folder) (err error) {
	if m.Sum, err = m.sum(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(f.manifest(m.Name), append(data, '\n'))
}

// Manifest reads a manifest.
func (f Folder) Manifest(name string) (*Manifest, error) {
	path := f.manifest(name)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, f.unplanned(name)
	}
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s is not a manifest: %w", path, err)
	}
	if m.Schema != manifestSchema {
		return nil, fmt.Errorf("%s has schema %d; this program reads schema %d", path, m.Schema, manifestSchema)
	}
	sum, err := m.sum()
	if err != nil {
		return nil, err
	}
	if sum != m.Sum || m.Name != name {
		return nil, fmt.Errorf("%s was altered after it was planned: plan the grid again, which loses no results", path)
	}
	return m, nil
}

func (f Folder) unplanned(name string) error {
	names, err := f.Names()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no grid is planned in %s: pcl grid plan does that", f.Dir)
	}
	return fmt.Errorf("the grid %q is not planned in %s; planned are %s", name, f.Dir, strings.Join(names, ", "))
}

// Check returns an error if this program is not the one that the manifest was made for.
func (m *Manifest) Check() error {
	build, err := origin.Program()
	if err != nil {
		return err
	}
	if build != m.Build {
		return fmt.Errorf("grid %s was planned with the program %s, and this is %s, which may compute something else: plan it again, which loses no results", m.Name, m.Build, build)
	}
	return nil
}
