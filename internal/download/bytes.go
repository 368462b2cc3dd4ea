package download

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/parallelcl/parallelcl/internal/printable"
)

// Bytes downloads an address into memory, in a single attempt. It is an error if there are more than most bytes.
func (c *Client) Bytes(ctx context.Context, address string, most int64) ([]byte, error) {
	data, err := c.bytes(ctx, address, most)
	if err != nil {
		return nil, fmt.Errorf("download %s: %w", address, err)
	}
	return data, nil
}

func (c *Client) bytes(ctx context.Context, address string, most int64) ([]byte, error) {
	ctx, received, stop := c.watch(ctx)
	defer stop()
	resp, err := c.get(ctx, address, http.Header{})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := checkStatus(resp); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(&counter{resp.Body, func(n int) { received.Add(int64(n)) }}, most+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, printable.Error(err)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("the server sends more than %s", megabytes(most))
	}
	return data, nil
}

// counter reports how many bytes each read returns.
type counter struct {
	io.Reader
	report func(int)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.report(n)
	return n, err
}
