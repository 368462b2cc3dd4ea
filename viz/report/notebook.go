package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Notebook is a Jupyter notebook of format 4.
type Notebook struct {
	File   string // where it was read from; pictures that its text names lie beside it
	SHA256 string // of the file

	Kernel     string // Jupyter's name of the kernel that it asks for; empty if it names none
	Executed   bool   // every cell with code has been executed
	HasResults bool   // a cell with code has been executed, or there is none

	// LeftOut is what its last page does not show as Jupyter does, such as "cell 3: picture "a.png": …".
	LeftOut []string

	cells    []cell
	language string
	madeBy   string // the kernel, as people see it
}

// cell is a cell as the format has it. What has another shape than it should is left out.
type cell struct {
	Type     lines `json:"cell_type"`
	Source   lines `json:"source"`
	Metadata struct {
		Jupyter struct {
			SourceHidden  bool `json:"source_hidden"`
			OutputsHidden bool `json:"outputs_hidden"`
		} `json:"jupyter"`
		Format   lines `json:"format"` // of a raw cell
		MIMEType lines `json:"raw_mimetype"`
	} `json:"metadata"`
	Attachments map[string]map[string]lines `json:"attachments"` // by name and media type
	Outputs     []json.RawMessage           `json:"outputs"`
	Count       *int                        `json:"execution_count"`

	outputs []output
	broken  error // what was wrong with it
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

// Bounds of a notebook: what is larger would take more memory than machines have.
const (
	maxNotebook = 256 << 20 // bytes
	maxList     = 100_000   // cells, and outputs of all of them
)

// notNumbers finds what Python writes for numbers that JSON lacks, and texts, in which the same words are none.
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
		return fmt.Errorf("it is not JSON: line %d: %w", 1+bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n")), err)
	}
	return nil // what else is wrong costs a key or a cell
}

// ReadNotebook reads an .ipynb file.
func ReadNotebook(path string) (n *Notebook, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("report: %s is not a notebook that can be read: %w", path, err)
		}
	}()
	if info, err := os.Stat(path); err == nil && info.Size() > maxNotebook {
		return nil, fmt.Errorf("it is larger than %d MB", maxNotebook>>20)
	}
	var file struct {
		Format   int               `json:"nbformat"`
		Cells    []json.RawMessage `json:"cells"`
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
	data, err := os.ReadFile(path)
	if err == nil {
		err = parseNotebook(data, &file)
	}
	m := file.Metadata
	n = &Notebook{File: path, SHA256: checksum(data), Kernel: string(m.Kernel.Name), language: string(m.Language.Name)}
	n.madeBy = strings.Trim(string(cmp.Or(m.Kernel.Display, m.Kernel.Name, m.Language.Name)+", "+m.Language.Version), ", ")
	switch {
	case err != nil:
	case file.Format != 4:
		err = fmt.Errorf("it has format %d, want 4: open and save it in JupyterLab", file.Format)
	case file.Cells == nil:
		err = errors.New("it has no cells")
	case !n.readCells(file.Cells):
		err = fmt.Errorf("it has more than %d cells or outputs", maxList)
	}
	return n, err
}

// readCells reads the cells; false if they or their outputs are too many.
func (n *Notebook) readCells(all []json.RawMessage) bool {
	if len(all) > maxList {
		return false
	}
	outputs, ran, waits := 0, false, false
	n.cells = make([]cell, len(all))
	for i := range n.cells {
		c := &n.cells[i]
		c.broken = json.Unmarshal(all[i], c)
		if outputs += len(c.Outputs); outputs > maxList {
			return false
		}
		for _, raw := range c.Outputs {
			var o output
			c.broken = cmp.Or(c.broken, json.Unmarshal(raw, &o))
			c.outputs = append(c.outputs, o)
		}
		done := c.Count != nil || len(c.Outputs) > 0
		ran = ran || done
		waits = waits || !done && c.Type == "code" && strings.TrimSpace(string(c.Source)) != ""
		all[i], c.Outputs = nil, nil
	}
	n.Executed, n.HasResults = !waits, ran || !waits
	return true
}

// Failed returns the errors among the outputs, in order and joined into one; nil if there are none.
func (n *Notebook) Failed() error {
	var failed []error
	for i, c := range n.cells {
		for _, o := range c.outputs {
			if o.Type == "error" {
				failed = append(failed, fmt.Errorf("%s: cell %d failed: %s", n.File, i+1, short(textOf(terminalScreen(string(o.Error+": "+o.Message))))))
			}
		}
	}
	return errors.Join(failed...)
}
