package engine

import (
	"context"
	"regexp"
	"strings"

	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
)

// named are strings for which the host knows what may stand in them: names of methods, data sets and networks.
var named = regexp.MustCompile(`(?:\b(Method|Dataset|Model)\s*:?=?\s*|\b(method|datasets|model|experiment)\.(?:New|Lookup|Make|Open)\([^"()]*)"([^"\n]*)$`)

// Complete proposes what may stand at an offset of a cell, also while cells run.
func (e *Engine) Complete(ctx context.Context, code string, offset int) (start int, matches []jupyter.Match, err error) {
	m := named.FindStringSubmatch(code[:offset])
	if m == nil {
		start, list := e.notebook.Complete(code, offset)
		for _, p := range list {
			matches = append(matches, jupyter.Match{Text: p.Text, Type: p.Kind, Signature: p.Signature})
		}
		return start, matches, nil
	}
	begun := m[3][strings.LastIndex(m[3], "+")+1:] // methods can be joined
	var names []string
	kind := strings.ToLower(m[1] + m[2])
	err = e.process.Load().call(ctx, "Names", kind, &names)
	for _, name := range names {
		if strings.HasPrefix(name, begun) {
			matches = append(matches, jupyter.Match{Text: name, Type: kind})
		}
	}
	return offset - len(begun), matches, err
}

// Inspect describes the name at an offset of a cell.
func (e *Engine) Inspect(_ context.Context, code string, offset, _ int) (map[string]any, error) {
	declaration, doc := e.notebook.Inspect(code, offset)
	if declaration == "" {
		return nil, nil
	}
	plain := strings.TrimSpace(declaration + "\n\n" + doc)
	return map[string]any{"text/plain": plain, "text/markdown": strings.TrimSpace("```go\n" + declaration + "\n```\n\n" + doc)}, nil
}
