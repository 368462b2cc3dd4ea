// Package jupyter serves an [Engine] to Jupyter front ends: messaging protocol 5.5 with subshells, over ZeroMQ.
package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// An Engine runs cells. The server calls its methods side by side: cells of different subshells run together, and every
// other method may be called while cells run.
type Engine interface {
	// Execute runs a cell and returns when it ends, or has been stopped since ctx has ended. number is shown beside the cell.
	// The lines of an error are shown. What the cell has started may use out after Execute has returned.
	Execute(ctx context.Context, code string, number int, out Out) error

	// Force ends the cells that still run after their contexts have ended: the user has interrupted a second time.
	Force()

	// Complete proposes what may stand for the code from start to a byte offset.
	Complete(code string, offset int) (start int, matches []cell.Proposal, err error)

	// Inspect describes what stands at a byte offset of code. The declaration is empty where nothing is known.
	Inspect(code string, offset int) (declaration, doc string)

	// Comm takes a message by which a page opens, uses or closes a comm; out answers it. If Comm returns an error, the comm is
	// closed.
	Comm(m Comm, out Out) error

	// Close ends all cells and every process of the engine.
	Close() error
}

// Out is where the output of one cell goes. Its methods may be called by several goroutines, also after the cell has ended:
// the front end still shows their output below that cell.
type Out interface {
	// Stream appends text to "stdout" or "stderr".
	Stream(name, text string)
	// Display shows rich output by a message of a kind: display_data, update_display_data or execute_result.
	Display(kind string, d *protocol.DisplayData)
	// Input asks the user for a line, which it returns without its end. It returns [io.EOF] where nobody can answer: the
	// front end has no input, or the cell has ended.
	Input(ctx context.Context, prompt string, password bool) (string, error)
	// Comm sends data to the page that has opened a comm.
	Comm(id string, data map[string]any)
}

// Comm is a message of a page for widgets: comm_open, comm_msg or comm_close.
type Comm struct {
	Kind string
	ID   string
	Data map[string]any
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

// server is a running kernel.
type server struct {
	connection
	ctx         context.Context // ends when the kernel shuts down
	end         context.CancelFunc
	engine      Engine
	subscribers sync.Map   // the keys are of type *peer
	askers      sync.Map   // peers by identity, which the user can be asked through
	asking      sync.Mutex // held while a question waits

	mu      sync.Mutex
	shells  map[string]*shell // by name
	running []*request
	past    []string // the cells with numbers
}

// Serve serves an engine at the ports of a Jupyter connection file, until a front end shuts the kernel down, ctx ends, the
// process is terminated or the Jupyter server that started it has ended. It closes the engine. An interrupt signal stops the
// cells, so ctx must not end on it.
func Serve(ctx context.Context, file string, e Engine) (err error) {
	defer func() { err = errors.Join(err, e.Close()) }()
	s := &server{engine: e, shells: map[string]*shell{}}
	s.ctx, s.end = signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer s.end()
	s.addShell("")
	interrupts := make(chan os.Signal, 8)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &s.connection)
	}
	if err == nil {
		err = s.listen()
	}
	if err != nil {
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

// parent is the process that started this one, asked for before it may have ended.
var parent = os.Getppid()

// receive takes what comes on the channels of requests.
func (s *server) receive(p *peer, frames [][]byte) {
	r, err := s.read(p, frames)
	if r == nil {
		log.Print("kernel: message dropped: ", err)
		return
	}
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
	r.publish("status", busy)
	defer s.idle(r)
	var content fields
	if err == nil {
		content, err = s.answer(r)
	}
	if err != nil {
		content = problem(err)
	}
	r.reply(content)
	if r.header.Type == "shutdown_request" {
		s.end()
	}
}

// busy says that the kernel works on a request.
var busy = fields{"execution_state": "busy"}

// idle says that the work on a request is done. While cells run the kernel as a whole stays busy, which is what front ends
// show.
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
		if s.engine.Comm(Comm{r.header.Type, c.Comm, c.Data}, r) != nil {
			r.publish("comm_close", fields{"comm_id": c.Comm, "data": fields{}})
		}
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
	first, matches, err := s.engine.Complete(c.Code, offset)
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
	declaration, doc := s.engine.Inspect(c.Code, c.offset())
	data := fields{}
	if declaration != "" {
		data["text/plain"] = strings.TrimSpace(declaration + "\n\n" + doc)
		data["text/markdown"] = strings.TrimSpace("```go\n" + declaration + "\n```\n\n" + doc)
	}
	return fields{"found": declaration != "", "data": data, "metadata": fields{}}
}

// offset is the byte offset of the cursor.
func (c content) offset() int {
	code := []rune(c.Code)
	return len(string(code[:min(max(c.Cursor, 0), len(code))]))
}

// history returns the newest cells, whichever are asked for. All are of session 1, since the next kernel doesn't know them.
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
