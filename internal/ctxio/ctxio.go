// Package ctxio provides a reader that stops when a context ends.
package ctxio

import (
	"context"
	"io"
)

// Reader returns a reader that reads from r until the context ends, and then returns the context's
// error.
func Reader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (c reader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
