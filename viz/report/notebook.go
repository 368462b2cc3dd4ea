package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/regular"
)

// Notebook is a Jupyter notebook of format 4.
type Notebook struct {
	File   string // where it was read from; pictures that its text names lie beside it
	SHA256 string // of the file

	Kernel     string // Jupyter's name of the kernel that it asks for; empty if it names none
	Executed   bool   // every cell with code has been executed
	HasResults bool   // a cell with code has been executed, or there is none

	// LeftOut is what its last page does not show as Jupyter does, such as "cell 3: picture
	// "a.png": …".
	LeftOut []string

	cells    []cell
	language string
	madeBy   string // the kernel, as people see it
	size     int    // bytes of the file
}

// cell is a cell as the format has it. Fields of another shape than they should have are left out.
type cell struct {
	Type     lines `json:"cell_type"`
	Source   lines `json:"source"`
	Metadata struct {
		Tags      []string `json:"tags"`
		Collapsed bool     `json:"collapsed"` // its outputs
		Jupyter   struct {
			SourceHidden  bool `json:"source_hidden"`
			OutputsHidden bool `json:"outputs_hidden"`
		} `json:"jupyter"`
		Format   lines `json:"format"` // of a raw cell
		MIMEType lines `json:"raw_mimetype"`
	} `json:"metadata"`
	Attachments map[string]map[string]lines `json:"attachments"` // by name and media type
	Outputs     json.RawMessage             `json:"outputs"`
	Count       *int                        `json:"execution_count"`

	outputs []output
	broken  error // what was wrong with it
}

// asks says whether a cell's author asks for something of a part of it, by a tag as those of
// nbconvert and Jupyter Book.
func (c *cell) asks(what, of string) bool { return tagged(c.Metadata.Tags, what, of) }

func tagged(tags []string, what, of string) bool {
	return slices.ContainsFunc(tags, func(tag string) bool {
		return strings.ReplaceAll(strings.ToLower(tag), "_", "-") == what+"-"+of
	})
}

// asks says the same of an output.
func (o *output) asks(what, of string) bool {
	var tags []string
	return json.Unmarshal(o.Metadata["tags"], &tags) == nil && tagged(tags, what, of)
}

// output is a result of a cell.
type output struct {
	Type      lines                      `json:"output_type"`
	Stream    lines                      `json:"name"`
	Text      lines                      `json:"text"`
	Data      map[string]lines           `json:"data"` // by media type
	Metadata  map[string]json.RawMessage `json:"metadata"`
	Error     lines                      `json:"ename"`
	Message   lines                      `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// lines is a text that the format may hold as a list of lines. Data of other shapes stay JSON.
type lines string

func (l *lines) UnmarshalJSON(data []byte) error {
	var list []string
	if *l = lines(data); json.Unmarshal(data, &list) == nil {
		*l = lines(strings.Join(list, ""))
	} else {
		json.Unmarshal(data, (*string)(l))
	}
	return nil
}

// Bounds of a notebook: a larger one would take more memory than machines have.
const (
	maxNotebook = 256 << 20 // bytes
	maxList     = 100_000   // cells, and outputs of all of them
)

// listOf reads a list of JSON, such as the cells of a notebook or the outputs of a cell: the first
// of them, if they are too many.
func listOf(data json.RawMessage) (all []json.RawMessage, err error) {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '[' {
		if len(trimmed) > 0 {
			err = json.Unmarshal(trimmed, &all) // which says what it is instead
		}
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	_, err = d.Token()
	for all = []json.RawMessage{}; err == nil && d.More() && len(all) <= maxList; {
		var raw json.RawMessage
		err = d.Decode(&raw)
		all = append(all, raw)
	}
	return all, err
}

// notNumbers finds what Python writes for numbers that JSON lacks, and texts, in which the same
// words are none.
var notNumbers = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b`)

// parseNotebook reads the JSON of a notebook. It may have a byte order mark.
func parseNotebook(data []byte, file any) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var syntax *json.SyntaxError
	err := json.Unmarshal(data, file)
	if errors.As(err, &syntax) {
		data = notNumbers.ReplaceAllFunc(data, func(m []byte) []byte {
			if m[0] == '"' {
				return m
			}
			return []byte("null")
		})
		err = json.Unmarshal(data, file)
	}
	if errors.As(err, &syntax) {
		return fmt.Errorf("it is not JSON: line %d: %w",
			1+bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n")), err)
	}
	return nil // what else is wrong costs a key or a cell
}

// ReadNotebook reads an .ipynb file.
func ReadNotebook(path string) (*Notebook, error) {
	n, err := readNotebook(path)
	if err != nil {
		return nil, fmt.Errorf("report: %s is not a notebook that can be read: %w", path, err)
	}
	return n, nil
}

func readNotebook(path string) (*Notebook, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxNotebook {
		return nil, fmt.Errorf("it is larger than %d MB", maxNotebook>>20)
	}
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n, err := notebookIn(data)
	if err != nil {
		return nil, err
	}
	n.File, n.SHA256 = path, checksum(data)
	return n, nil
}

func notebookIn(data []byte) (*Notebook, error) {
	var file struct {
		Format   int             `json:"nbformat"`
		Cells    json.RawMessage `json:"cells"`
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
		return nil, err
	}
	if file.Format != 4 {
		return nil, fmt.Errorf("it has format %d, want 4: open and save it in JupyterLab", file.Format)
	}
	cells, err := listOf(file.Cells)
	if err != nil || cells == nil {
		return nil, errors.New("it has no cells")
	}
	m := file.Metadata
	n := &Notebook{Kernel: string(m.Kernel.Name), language: string(m.Language.Name), size: len(data)}
	n.madeBy = strings.Trim(string(cmp.Or(m.Kernel.Display, m.Kernel.Name, m.Language.Name)+", "+m.Language.Version), ", ")
	if err := n.readCells(cells); err != nil {
		return nil, err
	}
	return n, nil
}

// readCells reads the cells, unless they or their outputs are too many.
func (n *Notebook) readCells(all []json.RawMessage) error {
	outputs, ran, waits := 0, false, false
	for i, raw := range all {
		var c cell
		c.broken = json.Unmarshal(raw, &c)
		list, err := listOf(c.Outputs)
		var shape *json.UnmarshalTypeError
		if errors.As(err, &shape) {
			shape.Field = "outputs"
		}
		c.broken = cmp.Or(c.broken, err)
		outputs += len(list)
		if max(len(all), outputs) > maxList {
			return fmt.Errorf("it has more than %d cells or outputs", maxList)
		}
		for _, raw := range list {
			var o output
			c.broken = cmp.Or(c.broken, json.Unmarshal(raw, &o))
			c.outputs = append(c.outputs, o)
		}
		done := c.Count != nil || len(list) > 0
		ran = ran || done
		waits = waits || !done && c.Type == "code" && strings.TrimSpace(string(c.Source)) != ""
		all[i], c.Outputs = nil, nil
		n.cells = append(n.cells, c)
	}
	n.Executed, n.HasResults = !waits, ran || !waits
	return nil
}

// Failed returns the errors among the outputs, in order and joined into one; nil if there are none.
func (n *Notebook) Failed() error {
	var failed []error
	for i, c := range n.cells {
		for _, o := range c.outputs {
			if o.Type == "error" {
				failed = append(failed, fmt.Errorf("%s: cell %d failed: %s", n.File, i+1,
					short(textOf(terminalScreen(string(o.Error+": "+o.Message))))))
			}
		}
	}
	return errors.Join(failed...)
}
