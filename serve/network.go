package serve

import (
	"bytes"
	"context"
	"io"

	"github.com/parallelcl/parallelcl/pcl"
)

// network answers with a file of the network as it is now, in the form in which write writes it.
func (s *Service) network(write func(*pcl.Trained, io.Writer) error) func(context.Context, *arrived) (any, error) {
	return func(ctx context.Context, _ *arrived) (any, error) {
		var file bytes.Buffer
		err := s.sending.do(ctx, func() error {
			s.mu.Lock() // holds up training only while the parameters are copied
			trained, err := s.learner.Trained()
			s.mu.Unlock()
			if err == nil {
				err = write(trained, &file)
			}
			if err != nil {
				return internalError{err}
			}
			return nil
		})
		return file.Bytes(), err
	}
}
