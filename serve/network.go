package serve

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
)

// network answers with a file of the network as it is now, in the form in which write writes it.
func (s *Service) network(write func(*pcl.Trained, pcl.Options, io.Writer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // it may have to wait for others
		err := s.sending.do(q.Context(), func() error { return s.sendNetwork(w, write) })
		if err != nil {
			s.answer(w, nil, err)
		}
	}
}

// sendNetwork returns an error if there is nothing to send.
func (s *Service) sendNetwork(w http.ResponseWriter, write func(*pcl.Trained, pcl.Options, io.Writer) error) error {
	var file bytes.Buffer
	if err := s.writeNetwork(&file, write); err != nil {
		return internalError{err}
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.patience))
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(file.Len()))
	_, _ = file.WriteTo(w) // to a client that may have gone
	return nil
}

// writeNetwork holds up training only while it copies the parameters.
func (s *Service) writeNetwork(to io.Writer, write func(*pcl.Trained, pcl.Options, io.Writer) error) error {
	s.mu.Lock()
	trained, err := s.learner.Trained()
	options := s.learner.Options()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return write(trained, options, to)
}
