package serve

import "context"

// slots bound how many requests compute at the same time. None is held while a client sends or receives.
type slots chan struct{}

// do calls f when there is a slot, unless ctx ends before.
func (s slots) do(ctx context.Context, f func() error) error {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s }()
	return f()
}
