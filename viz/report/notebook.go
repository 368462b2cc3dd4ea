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

	"github.com/parallelcl/parallelcl/internal/fail"
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
	defer fail.Caught(&err)
	defer fail.At("report: " + path + " is not a notebook that can be read")
	if info, err := os.Stat(path); err == nil {
		fail.When(info.Size() > maxNotebook, "it is larger than %d MB", maxNotebook>>20)
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
	data := fail.Or(os.ReadFile(path))
	fail.If(parseNotebook(data, &file))
	fail.When(file.Format != 4, "it has format %d, want 4: open and save it in JupyterLab", file.Format)
	fail.When(file.Cells == nil, "it has no cells")
	m := file.Metadata
	n = &Notebook{File: path, SHA256: checksum(data), Kernel: string(m.Kernel.Name), language: string(m.Language.Name)}
	n.madeBy = strings.Trim(string(cmp.Or(m.Kernel.Display, m.Kernel.Name, m.Language.Name)+", "+m.Language.Version), ", ")
	n.readCells(file.Cells)
	return n, nil
}

// readCells reads the cells, unless they or their outputs are too many.
func (n *Notebook) readCells(all []json.RawMessage) {
	outputs, ran, waits := 0, false, false
	for i, raw := range all {
		var c cell
		c.broken = json.Unmarshal(raw, &c)
		outputs += len(c.Outputs)
		fail.When(max(len(all), outputs) > maxList, "it has more than %d cells or outputs", maxList)
		for _, raw := range c.Outputs {
			var o output
			c.broken = cmp.Or(c.broken, json.Unmarshal(raw, &o))
			c.outputs = append(c.outputs, o)
		}
		done := c.Count != nil || len(c.Outputs) > 0
		ran = ran || done
		waits = waits || !done && c.Type == "code" && strings.TrimSpace(string(c.Source)) != ""
		all[i], c.Outputs = nil, nil
		n.cells = append(n.cells, c)
	}
	n.Executed, n.HasResults = !waits, ran || !waits
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
