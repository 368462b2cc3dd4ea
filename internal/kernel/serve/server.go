// Command serve is the notebook kernel. It translates each cell into a package, builds a plugin of
// it, and loads that into the process in which all cells live on; Jupyter's front ends talk to it
// by messaging protocol 5.5 with subshells, over ZeroMQ. The installer puts it into the kernel's
// folder; Jupyter starts it with the name of a connection file.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/doc/comment"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

func main() {
	open := func(s *server) (engine, error) { return newNotebook(filepath.Dir(os.Args[0]), s) }
	if err := serve(context.Background(), os.Args[1], open); err != nil {
		log.Fatal(err)
	}
}

// engine runs the code of cells, as [notebook] does. Its methods are called side by side.
type engine interface {
	execute(r *request) error       // returns when the cell ends, or has been stopped since its context has ended
	prepare(r *request, number int) // makes a cell ready that waits, and is expected to have this number
	force()                         // ends the cells that still run after that
	complete(code string, offset int) (start int, list []cell.Proposal, err error)
	inspect(code string, offset int) []cell.Description
	comm(r *request) // takes a message of a page for widgets
	close() error
}

// connection is a connection file.
type connection struct {
	Transport, IP, Key string
	Shell              int `json:"shell_port"`
	Control            int `json:"control_port"`
	IOPub              int `json:"iopub_port"`
	Stdin              int `json:"stdin_port"`
	Heartbeat          int `json:"hb_port"`
}

type server struct {
	connection
	file      string          // of the connection
	ctx       context.Context // ends when the kernel shuts down
	end       context.CancelFunc
	engine    engine
	doors     []*door // the ports
	arriving  arrivals
	published publisher
	askers    sync.Map   // peers by identity, which the user can be asked through
	asking    sync.Mutex // held while a question waits

	mu      sync.Mutex
	shells  map[string]*shell // by name
	running []*request        // cells, the newest last
	waiting map[string]int    // how often a cell waits, by what the front end calls it
	newest  *request          // the cell that was started last; before the first, one that shows nothing
	past    []string          // the cells with numbers
	notes   []string          // what is to be said when a cell runs
}

// serve serves an engine at the ports of a Jupyter connection file, until a front end shuts the
// kernel down, ctx ends, the process is terminated or the Jupyter server that started it has ended.
// An interrupt signal stops the cells.
func serve(ctx context.Context, file string, open func(*server) (engine, error)) (err error) {
	s := &server{file: file, shells: map[string]*shell{}, waiting: map[string]int{},
		published: publisher{subscribers: map[*peer]bool{}}}
	s.published.changed = sync.NewCond(&s.published.mu)
	s.ctx, s.end = signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer s.end()
	s.addShell("")
	s.newest = &request{server: s, parent: json.RawMessage("{}"), content: content{Silent: true}}
	interrupts := make(chan os.Signal, 8)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if err := s.readConnection(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if s.engine, err = open(s); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	defer func() { err = errors.Join(err, s.engine.close()) }()
	defer func() {
		s.published.linger()
		for _, d := range s.doors {
			d.close()
		}
	}()
	if err := s.listen(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for {
		select {
		case <-interrupts:
			s.interrupt()
		case <-time.After(200 * time.Millisecond):
			if os.Getenv("JPY_PARENT_PID") != "" && os.Getppid() != parent { // the Jupyter server has ended
				return nil
			}
		case <-s.ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *server) readConnection() error {
	data, err := os.ReadFile(s.file)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, &s.connection)
}

// parent is the process that started this one, asked for before it may have ended.
var parent = os.Getppid()

// receive takes what comes on the channels of requests.
func (s *server) receive(p *peer, frames [][]byte) {
	r, err := s.read(p, frames)
	if r == nil {
		log.Print("kernel: message dropped: ", err)
		return
	}
	p.trust.Store(known)
	switch kind := r.header.Type; {
	case kind == "input_reply":
		select {
		case p.lines <- r.content.Value:
		default: // nobody waits for it
		}
	case kind == "execute_request" && err == nil:
		s.enqueue(r)
	case strings.HasPrefix(kind, "comm_"):
		s.handle(r, err) // in the order in which they come
	default:
		go s.handle(r, err)
	}
}

// handle works on a request and replies. An error is what is wrong with it.
func (s *server) handle(r *request, err error) {
	defer func() { // after all that is published
		if r.header.Type == "shutdown_request" {
			s.end()
		}
	}()
	r.publish("status", busy)
	defer s.idle(r)
	var content fields
	if err == nil {
		err = enter(func() (err error) { content, err = s.answer(r); return err })
	}
	if err != nil {
		content = problem(err)
	}
	r.reply(content)
}

// enter does what a request wants. A panic in the kernel's own code, or in the checker of types, is
// an error of this request.
func enter(do func() error) error {
	err := recovered(do)
	if p := (panicked{}); errors.As(err, &p) {
		log.Printf("kernel: panic: %v\n%s", p.value, p.stack)
		return fmt.Errorf("the kernel itself has failed at this, and goes on; please report it with the cell: panic: %v",
			p.value)
	}
	return err
}

// recovered returns the error of do, or its panic as one.
func recovered(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked{p, debug.Stack()}
		}
	}()
	return do()
}

// panicked is a panic as an error.
type panicked struct {
	value any
	stack []byte
}

func (p panicked) Error() string { return fmt.Sprint(p.value) }

// busy says that the kernel works on a request.
var busy = fields{"execution_state": "busy"}

// idle says that the work on a request is done. While cells run the kernel as a whole stays busy,
// which is what front ends show.
func (s *server) idle(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.publish("status", fields{"execution_state": "idle"})
	if len(s.running) > 0 {
		s.running[0].publish("status", busy)
	}
}

// answer does what a request wants.
func (s *server) answer(r *request) (fields, error) {
	c := r.content
	switch r.header.Type {
	case "execute_request":
		return s.execute(r), nil
	case "comm_open", "comm_msg", "comm_close":
		s.engine.comm(r)
		return nil, nil
	case "comm_info_request":
		return fields{"comms": fields{}}, nil // only the page that opened one uses it
	case "kernel_info_request":
		return kernelInfo, nil
	case "complete_request":
		return s.complete(c)
	case "inspect_request":
		return s.inspect(c), nil
	case "is_complete_request":
		status, depth := cell.Complete(c.Code)
		return fields{"status": status, "indent": strings.Repeat("\t", depth)}, nil
	case "history_request":
		return s.history(c), nil
	case "interrupt_request":
		s.interrupt()
		return fields{}, nil
	case "shutdown_request":
		return fields{"restart": c.Restart}, nil
	case "create_subshell_request", "delete_subshell_request", "list_subshell_request":
		return s.subshell(r)
	}
	return nil, errors.New("there is no such request")
}

var kernelInfo = fields{
	"protocol_version": protocolVersion, "implementation": "parallelcl", "implementation_version": "1",
	"banner": "Go cells that share live state", "help_links": []fields{}, "debugger": false,
	"supported_features": []string{"kernel subshells"},
	"language_info": fields{
		"name": "go", "version": strings.TrimPrefix(runtime.Version(), "go"), "mimetype": "text/x-go",
		"file_extension": ".go", "pygments_lexer": "go", "codemirror_mode": "text/x-go",
	},
}

func (s *server) complete(c content) (fields, error) {
	offset := c.offset()
	first, matches, err := s.engine.complete(c.Code, offset)
	if err != nil {
		return nil, err
	}
	start, end := utf8.RuneCountInString(c.Code[:first]), utf8.RuneCountInString(c.Code[:offset])
	texts, types := []string{}, []fields{}
	for _, m := range matches {
		texts = append(texts, m.Text)
		types = append(types, fields{"start": start, "end": end, "text": m.Text, "type": m.Kind, "signature": m.Signature})
	}
	metadata := fields{"_jupyter_types_experimental": types}
	return fields{"matches": texts, "cursor_start": start, "cursor_end": end, "metadata": metadata}, nil
}

func (s *server) inspect(c content) fields {
	var plain, markdown []string
	for _, d := range s.engine.inspect(c.Code, c.offset()) {
		declaration := d.Declaration
		if d.Value != "" {
			declaration += "\n// value: " + strings.ReplaceAll(d.Value, "\n", "\n// ")
		}
		names := comment.Parser{LookupSym: func(recv, name string) bool { return true }} // which lose their brackets
		doc := names.Parse(d.Doc)
		print := comment.Printer{HeadingLevel: 4, HeadingID: func(*comment.Heading) string { return "" },
			DocLinkURL: func(*comment.DocLink) string { return "" }}
		plain = append(plain, declaration, string(print.Text(doc)))
		markdown = append(markdown, "```go\n"+declaration+"\n```", string(print.Markdown(doc)))
	}
	data := fields{}
	if len(plain) > 0 {
		data["text/plain"] = paragraphs(plain)
		data["text/markdown"] = paragraphs(markdown)
	}
	return fields{"found": len(plain) > 0, "data": data, "metadata": fields{}}
}

// paragraphs joins texts by empty lines.
func paragraphs(texts []string) string {
	texts = slices.DeleteFunc(texts, func(text string) bool { return strings.TrimSpace(text) == "" })
	for i, text := range texts {
		texts[i] = strings.TrimSpace(text)
	}
	return strings.Join(texts, "\n\n")
}

// offset is the byte offset of the cursor.
func (c content) offset() int {
	code := []rune(c.Code)
	return len(string(code[:min(max(c.Cursor, 0), len(code))]))
}

// history returns the newest cells, whichever are asked for. All are of session 1, since the next
// kernel doesn't know them.
func (s *server) history(c content) fields {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines, first := [][]any{}, max(0, len(s.past)-max(c.N, 0))
	for i, code := range s.past[first:] {
		line := []any{1, first + i + 1, code}
		if c.Output {
			line[2] = []any{code, nil} // what it showed is in the notebook
		}
		lines = append(lines, line)
	}
	return fields{"history": lines}
}
