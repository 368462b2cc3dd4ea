package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Notebook is a Jupyter notebook of format 4.
type Notebook struct {
	File   string // where it was read from; pictures that its text names lie beside it
	SHA256 string // of the file

	cells    []cell
	language string
	kernel   string // as people see it
	name     string // as Jupyter calls it
	left     []string
}

// cell is a cell as the format has it. What has another shape than it should is left out.
type cell struct {
	Type     lines `json:"cell_type"`
	Source   lines `json:"source"`
	Level    int   `json:"level"` // of a heading
	Metadata struct {
		Jupyter struct {
			SourceHidden  bool `json:"source_hidden"`
			OutputsHidden bool `json:"outputs_hidden"`
		} `json:"jupyter"`
		Format   lines `json:"format"` // of a raw cell
		MIMEType lines `json:"raw_mimetype"`
	} `json:"metadata"`
	Attachments map[string]map[string]lines `json:"attachments"` // by name and media type
	Outputs     outputs                     `json:"outputs"`
	Count       *int                        `json:"execution_count"`

	broken error // what was wrong with it
}

// output is one of a cell's results.
type output struct {
	Type      lines                      `json:"output_type"`
	Stream    lines                      `json:"name"`
	Text      lines                      `json:"text"`
	Data      map[string]lines           `json:"data"` // by media type
	Metadata  map[string]json.RawMessage `json:"metadata"`
	Error     lines                      `json:"ename"`
	Message   lines                      `json:"evalue"`
	Traceback []lines                    `json:"traceback"`

	broken error
}

// lines is a text that the format may hold as a list of lines. Data of other shapes stay JSON.
type lines string

func (l *lines) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		*l = lines(strings.Join(list, ""))
		return nil
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		*l = lines(text)
		return nil
	}
	*l = lines(data)
	return nil
}

// Bounds of a notebook: what is larger would take more memory than machines have.
const (
	maxNotebook = 256 << 20 // bytes
	maxList     = 100_000   // cells, and outputs of all of them
)

// cells are those of a notebook, and outputs those of a cell. They are counted while they are read: the shortest takes two
// characters in the file, and a hundred times as much in memory.
type (
	cells   []cell
	outputs []output
)

var errTooMany = fmt.Errorf("it has more than %d cells or outputs", maxList)

func (c *cells) UnmarshalJSON(data []byte) error {
	shown := 0
	*c = cells{}
	return eachEntry(data, func(d *json.Decoder) error {
		var one cell
		if one.broken = d.Decode(&one); errors.Is(one.broken, errTooMany) {
			return one.broken
		}
		if shown += len(one.Outputs); shown > maxList {
			return errTooMany
		}
		*c = append(*c, one)
		return nil
	})
}

func (o *outputs) UnmarshalJSON(data []byte) error {
	return eachEntry(data, func(d *json.Decoder) error {
		var one output
		one.broken = d.Decode(&one)
		*o = append(*o, one)
		return nil
	})
}

// eachEntry calls read for each entry of a list in JSON. What is no list counts as one entry, and null as none.
func eachEntry(data []byte, read func(*json.Decoder) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	switch t, err := d.Token(); {
	case err != nil || t == nil:
		return err
	case t != json.Delim('['):
		return read(json.NewDecoder(bytes.NewReader(data)))
	}
	for n := 0; d.More(); n++ {
		if n == maxList {
			return errTooMany
		}
		if err := read(d); err != nil {
			return err
		}
	}
	return nil
}

// notNumbers finds what Python writes for numbers that JSON lacks, and texts, in which the same words are none.
var notNumbers = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b`)

// parseNotebook reads the JSON of a notebook. It may have a byte order mark.
func parseNotebook(data []byte, file any) error {
	data, _, err := transform.Bytes(unicode.BOMOverride(transform.Nop), data)
	if err != nil {
		return err
	}
	var syntax *json.SyntaxError
	if err = json.Unmarshal(data, file); errors.As(err, &syntax) {
		data = notNumbers.ReplaceAllFunc(data, func(m []byte) []byte {
			if m[0] == '"' {
				return m
			}
			return []byte("null")
		})
		err = json.Unmarshal(data, file)
	}
	switch {
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		return fmt.Errorf("it is not JSON: line %d: %w", line, err)
	case errors.Is(err, errTooMany):
		return err
	}
	return nil // what else is wrong costs a key or a cell
}

// readUpTo reads a file that is not larger than so many bytes. A pipe has no size before it is read.
func readUpTo(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is larger than %d MB", path, most>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return data, nil
}

// ReadNotebook reads an .ipynb file.
func ReadNotebook(path string) (*Notebook, error) {
	data, err := readUpTo(path, maxNotebook)
	if err != nil {
		return nil, err
	}
	var file struct {
		Format   int   `json:"nbformat"`
		Cells    cells `json:"cells"`
		Metadata struct {
			Kernel struct {
				Name    lines `json:"name"`
				Display lines `json:"display_name"`
			} `json:"kernelspec"`
			Language struct {
				Name    lines `json:"name"`
				Version lines `json:"version"`
			} `json:"language_info"`
		} `json:"metadata"`
	}
	if err := parseNotebook(data, &file); err != nil {
		return nil, fmt.Errorf("report: %s is not a notebook: %w", path, err)
	}
	switch {
	case file.Format == 0:
		return nil, fmt.Errorf("report: %s is not a notebook: it has no nbformat", path)
	case file.Format != 4:
		return nil, fmt.Errorf("report: %s has notebook format %d, want 4: open and save it in JupyterLab", path, file.Format)
	case file.Cells == nil:
		return nil, fmt.Errorf("report: %s has no cells", path)
	}
	m := file.Metadata
	n := &Notebook{File: path, SHA256: checksum(data), cells: file.Cells, name: string(m.Kernel.Name), language: string(m.Language.Name)}
	n.kernel = string(cmp.Or(m.Kernel.Display, m.Kernel.Name))
	if v := strings.TrimPrefix(string(m.Language.Version), n.language); v != "" { // Go's is go1.26
		n.kernel = strings.Trim(n.kernel+", "+n.language+" "+v, ", ")
	}
	return n, nil
}

// Kernel is Jupyter's name of the kernel that the notebook asks for; empty if it names none.
func (n *Notebook) Kernel() string { return n.name }

// Executed says whether every cell with code has been executed.
func (n *Notebook) Executed() bool { return !slices.ContainsFunc(n.cells, cell.waits) }

// HasResults says whether any cell with code has been executed, or there is none.
func (n *Notebook) HasResults() bool {
	return n.Executed() || slices.ContainsFunc(n.cells, func(c cell) bool { return c.Count != nil || len(c.Outputs) > 0 })
}

// waits says whether a cell has code that was never executed.
func (c cell) waits() bool {
	return c.Type == "code" && strings.TrimSpace(string(c.Source)) != "" && c.Count == nil && len(c.Outputs) == 0
}

// TakeResults takes the outputs of an executed copy of the notebook.
func (n *Notebook) TakeResults(executed *Notebook) error {
	if len(executed.cells) != len(n.cells) {
		return fmt.Errorf("report: %s has %d cells and its executed copy %d", n.File, len(n.cells), len(executed.cells))
	}
	n.cells, n.kernel, n.language = executed.cells, executed.kernel, executed.language
	return nil
}

// Failed returns the errors among the outputs, in order and joined into one; nil if there are none.
func (n *Notebook) Failed() error {
	var failed []error
	for i, c := range n.cells {
		for _, o := range c.Outputs {
			if o.Type == "error" {
				failed = append(failed, fmt.Errorf("%s: cell %d failed: %s", n.File, i+1, o.mistake()))
			}
		}
	}
	return errors.Join(failed...)
}

// mistake is an error in a line: its first, but for the package that Go's compiler begins with.
func (o *output) mistake() string {
	for line := range strings.Lines(plain(string(o.Message))) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "# ") {
			return plain(string(o.Error)) + ": " + line
		}
	}
	return plain(string(o.Error))
}
