// Package host is the process in which the cells of a notebook run. The kernel makes a program of it that imports every package
// that cells can import, so that all cells share them. It reads requests on file 3 and answers on file 4.
package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"plugin"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/kernel/rt"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/internal/recipe"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/viz/nb"
)

var answers struct {
	sync.Mutex
	w io.Writer
}

func say(a wire.Answer) {
	data, err := json.Marshal(a)
	if err != nil {
		panic(err) // an answer has no value that JSON cannot say
	}
	answers.Lock()
	defer answers.Unlock()
	answers.w.Write(append(data, '\n')) // if the kernel is gone, so is this process soon
}

// Main answers requests until there are no more.
func Main() {
	debug.SetTraceback("single")
	answers.w = os.NewFile(4, "answers")
	origin.SetNotebook(os.Getenv(wire.SourceVariable), rt.Origin)
	rt.Ask = func(id, cell int) { say(wire.Answer{Op: "input", ID: id, Cell: cell}) }
	rt.Show = show
	recipe.Remember()
	say(wire.Answer{Op: "ready"})
	in := bufio.NewReader(os.NewFile(3, "requests"))
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var r wire.Request
		if err := json.Unmarshal(line, &r); err != nil {
			panic(err)
		}
		operations[r.Op](r)
	}
}

// operations are what the kernel can ask for. One that takes time starts a goroutine.
var operations = map[string]func(wire.Request){
	"run":       func(r wire.Request) { go runCell(r, rt.Begin(r.Cell)) }, // loads a cell and runs it
	"stop":      func(r wire.Request) { rt.Stop(r.Cell) },
	"input":     func(r wire.Request) { rt.Give(r.ID, r.List) },
	"set":       func(r wire.Request) { finish(r, os.Setenv(r.List[0], r.List[1])) },
	"save":      func(r wire.Request) { go save(r, false) },
	"autosave":  func(r wire.Request) { go save(r, true) },
	"restore":   func(r wire.Request) { go restore(r) },
	"names":     func(r wire.Request) { say(wire.Answer{ID: r.ID, List: names(r.Path)}) },
	"cd":        func(r wire.Request) { finish(r, os.Chdir(r.Path)) },
	"args":      setArgs,
	"variables": func(r wire.Request) { go describeAll(r) },
}

func finish(r wire.Request, err error) {
	a := wire.Answer{ID: r.ID}
	if err != nil {
		a.Error = err.Error()
	}
	say(a)
}

// names lists what may be named in strings: methods and parts, data sets, networks.
func names(kind string) (list []string) {
	switch kind {
	case "method":
		return append(method.Names(), method.PartNames()...)
	case "model":
		return model.Names()
	}
	for _, info := range datasets.List() {
		list = append(list, info.Name)
	}
	return list
}

// runCell loads a cell and runs it.
func runCell(r wire.Request, execute func(run func()) *wire.Failure) {
	a := wire.Answer{ID: r.ID}
	defer func() {
		gonbui.Sync()
		a.Bytes = memory()
		say(a)
	}()
	p, err := plugin.Open(r.Path)
	var run plugin.Symbol
	if err == nil {
		run, err = p.Lookup("Run")
	}
	if err != nil {
		a.Error = err.Error()
		execute(func() {})
		return
	}
	a.Failure = execute(*run.(*func()))
}

// show shows the value of a cell's last expression: as package nb does, or as text.
func show(v any) {
	if !nb.ShowValue(v) {
		gonbui.SendData(&protocol.DisplayData{
			Data:     map[protocol.MIMEType]any{protocol.MIMETextPlain: fmt.Sprint(v)},
			Metadata: map[string]any{wire.Result: true},
		})
	}
}

// memory is how much of it the process has to itself.
func memory() (bytes int64) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "RssAnon: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	return 0
}
