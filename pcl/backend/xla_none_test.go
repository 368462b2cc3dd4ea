//go:build !(cgo && linux && (amd64 || arm64))

package backend

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

func TestAutoIsPureGoHere(t *testing.T) {
	var notice bytes.Buffer
	b := must.Get(Open(context.Background(), Options{cache: t.TempDir(), Progress: &notice}))(t)
	defer b.Close()
	if b.Info.Name != Go || strings.Count(notice.String(), "\n") != 1 ||
		!strings.Contains(notice.String(), errUnsupported.Error()) {
		t.Errorf("%s; notice %q", b.Info, notice.String())
	}
}
