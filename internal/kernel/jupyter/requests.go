package jupyter

import (
	"crypto/rand"
	"maps"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// answer answers a request that waits for nothing, by nil where there is no such request. An interrupt has been done before,
// and a shutdown is after its reply.
func (s *server) answer(r *request) (fields, error) {
	c := r.content
	switch r.Type {
	case "kernel_info_request":
		return s.kernelInfo(), nil
	case "complete_request":
		return s.complete(c)
	case "inspect_request":
		data, err := s.engine.Inspect(s.ctx, c.Code, c.offset(), c.Level)
		return fields{"found": len(data) > 0, "data": encodable(data), "metadata": fields{}}, err
	case "is_complete_request":
		status, indent := s.engine.IsComplete(c.Code)
		return fields{"status": status, "indent": indent}, nil
	case "history_request":
		return s.past(c), nil
	case "comm_info_request":
		return s.openComms(c.Target), nil
	case "interrupt_request":
		return fields{}, nil
	case "shutdown_request":
		content := fields{"status": "ok", "restart": c.Restart}
		s.publish("shutdown_reply", r.parent, content) // tells all front ends
		return content, nil
	case "create_subshell_request":
		return s.addShell(), nil
	case "delete_subshell_request":
		return fields{}, s.removeShell(c.Subshell)
	case "list_subshell_request":
		s.mu.Lock()
		defer s.mu.Unlock()
		return fields{"subshell_id": slices.Sorted(maps.Keys(s.shells))[1:]}, nil // without ""
	}
	return nil, nil
}

func (s *server) kernelInfo() fields {
	return fields{
		"protocol_version": protocolVersion, "implementation": s.info.Name, "implementation_version": s.info.Version,
		"banner": s.info.Banner, "help_links": []fields{}, "debugger": false,
		"supported_features": []string{"kernel subshells"},
		"language_info": fields{
			"name": "go", "version": strings.TrimPrefix(runtime.Version(), "go"), "mimetype": "text/x-go",
			"file_extension": ".go", "pygments_lexer": "go", "codemirror_mode": "text/x-go",
		},
	}
}

func (s *server) complete(c content) (fields, error) {
	offset := c.offset()
	first, matches, err := s.engine.Complete(s.ctx, c.Code, offset)
	if err != nil {
		return nil, err
	}
	start, end := utf8.RuneCountInString(c.Code[:first]), utf8.RuneCountInString(c.Code[:offset])
	texts, types := []string{}, []fields{}
	for _, m := range matches {
		texts = append(texts, m.Text)
		types = append(types, fields{"start": start, "end": end, "text": m.Text, "type": m.Type, "signature": m.Signature})
	}
	metadata := fields{"_jupyter_types_experimental": types}
	return fields{"matches": texts, "cursor_start": start, "cursor_end": end, "metadata": metadata}, nil
}

// offset is the byte offset of the cursor.
func (c content) offset() int {
	before := []rune(c.Code)
	if c.Cursor != nil {
		before = before[:min(max(*c.Cursor, 0), len(before))]
	}
	return len(string(before))
}

func (s *server) addShell() fields {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := rand.Text()
	s.shells[id] = nil
	return fields{"subshell_id": id}
}
