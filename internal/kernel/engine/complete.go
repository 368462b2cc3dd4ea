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
	if m := named.FindStringSubmatch(code[:offset]); m != nil {
		return e.completeName(ctx, strings.ToLower(m[1]+m[2]), m[3], offset)
	}
	start, list := e.notebook.Complete(code, offset)
	for _, p := range list {
		matches = append(matches, jupyter.Match{Text: p.Text, Type: p.Kind, Signature: p.Signature})
	}
	return start, matches, nil
}

func (e *Engine) completeName(ctx context.Context, kind, begun string, offset int) (start int, matches []jupyter.Match, err error) {
	begun = begun[strings.LastIndex(begun, "+")+1:] // methods can be joined
	var names []string
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
