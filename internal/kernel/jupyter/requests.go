package jupyter

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// A handler answers a request.
type handler func(*server, *request) (fields, error)

// handlers answer the requests that wait for nothing. An interrupt is done before its handler is called, and a shutdown after
// its reply.
var handlers = map[string]handler{
	"kernel_info_request":     on((*server).kernelInfo),
	"complete_request":        on((*server).complete),
	"inspect_request":         on((*server).inspect),
	"is_complete_request":     on((*server).isComplete),
	"history_request":         on((*server).past),
	"comm_info_request":       on((*server).commInfo),
	"interrupt_request":       on(func(*server, struct{}) (fields, error) { return fields{}, nil }),
	"shutdown_request":        (*server).shutdown,
	"create_subshell_request": on((*server).createSubshell),
	"delete_subshell_request": on((*server).deleteSubshell),
	"list_subshell_request":   on((*server).listSubshells),
}

// on is the handler that decodes the content of a request for f.
func on[C any](f func(*server, C) (fields, error)) handler {
	return func(s *server, r *request) (fields, error) {
		var c C
		if err := r.decode(&c); err != nil {
			return nil, err
		}
		return f(s, c)
	}
}

func (s *server) kernelInfo(struct{}) (fields, error) {
	return fields{
		"protocol_version": protocolVersion, "implementation": s.info.Name, "implementation_version": s.info.Version,
		"banner": s.info.Banner, "help_links": []fields{}, "debugger": false,
		"supported_features": []string{"kernel subshells"},
		"language_info": fields{
			"name": "go", "version": strings.TrimPrefix(runtime.Version(), "go"), "mimetype": "text/x-go",
			"file_extension": ".go", "pygments_lexer": "go", "codemirror_mode": "text/x-go",
		},
	}, nil
}

// codeContent is the content of a request about code.
type codeContent struct {
	Code   string
	Cursor *int `json:"cursor_pos"` // counts code points; nil: the end
	Level  int  `json:"detail_level"`
}

func (s *server) complete(c codeContent) (fields, error) {
	found, err := s.engine.Complete(s.ctx, c.Code, c.offset())
	if err != nil {
		return nil, err
	}
	start, end := codePoints(c.Code, found.Start), codePoints(c.Code, found.End)
	texts, types := []string{}, []fields{}
	for _, m := range found.Matches {
		texts = append(texts, m.Text)
		types = append(types, fields{"start": start, "end": end, "text": m.Text, "type": m.Type, "signature": m.Signature})
	}
	metadata := fields{"_jupyter_types_experimental": types}
	return fields{"matches": texts, "cursor_start": start, "cursor_end": end, "metadata": metadata}, nil
}

func (s *server) inspect(c codeContent) (fields, error) {
	data, err := s.engine.Inspect(s.ctx, c.Code, c.offset(), c.Level)
	return fields{"found": len(data) > 0, "data": encodable(data), "metadata": fields{}}, err
}

func (s *server) isComplete(c codeContent) (fields, error) {
	is := s.engine.IsComplete(c.Code)
	content := fields{"status": is.Status}
	if is.Status == "incomplete" {
		content["indent"] = is.Indent
	}
	return content, nil
}

// shutdown tells all front ends; the cells end with the server.
func (s *server) shutdown(r *request) (fields, error) {
	var c struct{ Restart bool }
	err := r.decode(&c)
	content := fields{"status": "ok", "restart": c.Restart}
	s.iopub.publish(message{kind: "shutdown_reply", parent: r.parent, content: content})
	return content, err
}

func (s *server) createSubshell(struct{}) (fields, error) {
	id := unique()
	s.addShell(id)
	return fields{"subshell_id": id}, nil
}

func (s *server) deleteSubshell(c struct {
	ID string `json:"subshell_id"`
}) (fields, error) {
	return fields{}, s.removeShell(c.ID)
}

func (s *server) listSubshells(struct{}) (fields, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fields{"subshell_id": slices.Sorted(maps.Keys(s.shells))[1:]}, nil // without ""
}

// offset is the byte offset of the cursor.
func (c codeContent) offset() int {
	n := 0
	for i := range c.Code {
		if c.Cursor != nil && n >= *c.Cursor {
			return i
		}
		n++
	}
	return len(c.Code)
}

// codePoints is the cursor at a byte offset.
func codePoints(code string, offset int) int {
	return utf8.RuneCountInString(code[:min(max(offset, 0), len(code))])
}
