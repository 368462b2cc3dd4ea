package ctxio

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReaderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, p := Reader(ctx, strings.NewReader("abcd")), make([]byte, 2)
	if _, err := io.ReadFull(r, p); err != nil || string(p) != "ab" {
		t.Fatalf("read %q, %v", p, err)
	}
	cancel()
	if n, err := r.Read(p); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("read %d bytes after the end of the context: %v", n, err)
	}
}
