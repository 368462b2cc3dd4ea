package rt

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"plugin"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
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

var codes sync.Map // hashes of cells by their ids

// codeOf is the hash of the cell that has a function.
func codeOf(pc uintptr) string {
	var id int
	if rest, ok := strings.CutPrefix(runtime.FuncForPC(pc).Name(), pathPrefix); ok {
		fmt.Sscanf(rest, "%d", &id)
	}
	code, _ := codes.Load(id)
	hash, _ := code.(string)
	return hash
}

// currentCode is the hash of the cell that this goroutine belongs to.
func currentCode() (string, bool) {
	code, ok := codes.Load(owner())
	hash, _ := code.(string)
	return hash, ok
}

// Serve answers the kernel until it ends.
func Serve() {
	debug.SetTraceback("all")
	answers.w = os.NewFile(4, "answers")
	origin.SetNotebook(&origin.Notebook{Source: os.Getenv(wire.SourceVariable), Code: codeOf, Cell: currentCode})
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
		if f, ok := operations[r.Op]; ok {
			f(r)
		} else {
			say(wire.Answer{ID: r.ID, Error: "unknown operation " + r.Op})
		}
	}
}

// operations are what the kernel can ask for. One that takes time starts a goroutine.
var operations = map[string]func(wire.Request){
	"run":   func(r wire.Request) { go runCell(r) },
	"stop":  func(r wire.Request) { stop(r.Cell) },
	"input": func(r wire.Request) { stdin.give(r) },
	"set": func(r wire.Request) {
		finish(r, os.Setenv(r.List[0], r.List[1]))
	},
	"names": func(r wire.Request) { say(wire.Answer{ID: r.ID, List: names(r.Path)}) },
	"cd":    func(r wire.Request) { finish(r, os.Chdir(r.Path)) },
	"args":  func(r wire.Request) { finish(r, setArgs(r.List)) },
	"variables": func(r wire.Request) {
		go func() { say(wire.Answer{ID: r.ID, Variables: describeAll(r.List), Bytes: memory()}) }()
	},
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
func runCell(r wire.Request) {
	a := wire.Answer{ID: r.ID, Cell: r.Cell}
	defer func() {
		gonbui.Sync()
		a.Bytes = memory()
		say(a)
	}()
	codes.Store(r.Cell, strings.Join(r.List, " "))
	p, err := plugin.Open(r.Path)
	if err != nil {
		a.Error = err.Error()
		return
	}
	run, err := p.Lookup("Run")
	if err != nil {
		a.Error = err.Error()
		return
	}
	a.Failure = execute(r.Cell, *run.(*func()))
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

// Stdin stands for the standard input in the cells' own code. Reading asks the user for a line.
var Stdin io.Reader = stdin

var stdin = &input{answers: map[int]chan wire.Request{}}

type input struct {
	mu      sync.Mutex
	rest    []byte
	next    int
	answers map[int]chan wire.Request
}

// Read asks the kernel for a line if none is left.
func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	if len(in.rest) > 0 {
		defer in.mu.Unlock()
		n := copy(p, in.rest)
		in.rest = in.rest[n:]
		return n, nil
	}
	in.next++
	id, answer := in.next, make(chan wire.Request, 1)
	in.answers[id] = answer
	in.mu.Unlock()
	say(wire.Answer{Op: "input", ID: id, Cell: owner()})
	select {
	case r := <-answer:
		if len(r.List) == 0 {
			return 0, io.EOF
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		line := []byte(r.List[0] + "\n")
		n := copy(p, line)
		in.rest = append(in.rest, line[n:]...)
		return n, nil
	case <-Context().Done():
		return 0, io.EOF
	}
}

// give takes a line, which a read asked for or is still to ask for.
func (in *input) give(r wire.Request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if answer, ok := in.answers[r.ID]; ok {
		delete(in.answers, r.ID)
		answer <- r
	} else if len(r.List) > 0 {
		in.rest = append(in.rest, r.List[0]+"\n"...)
	}
}

// Scan is fmt.Scan; Scanln and Scanf likewise.
func Scan(a ...any) (int, error) { return fmt.Fscan(Stdin, a...) }

// Scanln is fmt.Scanln.
func Scanln(a ...any) (int, error) { return fmt.Fscanln(Stdin, a...) }

// Scanf is fmt.Scanf.
func Scanf(format string, a ...any) (int, error) { return fmt.Fscanf(Stdin, format, a...) }
