package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// Start returns a service that answers before it has a learner: from [Service.Run] on, make makes
// it, which takes seconds where programs are compiled. Until then predictions are those of the
// network that was saved last beside Options.File, in pure Go, and other requests wait. Run closes
// the learner in the end, and fails if make does.
func Start(make func(ctx context.Context) (*pcl.Learner, error), o Options) (*Service, error) {
	s, err := begin(o)
	if err != nil {
		return nil, err
	}
	s.make = make
	if err := s.startEarly(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.options.Log.Warn("serve: predictions wait for the learner, since the saved network cannot be used", "error", err)
	}
	return s, nil
}

// networkFile is the file with the network that predictions were made with when the learner was
// saved last.
func networkFile(file string) string { return file + ".network" }

// startEarly lets the saved network predict.
func (s *Service) startEarly() error {
	if s.options.File == "" {
		return nil
	}
	t, err := pcl.LoadNetwork(networkFile(s.options.File))
	if err != nil {
		return err
	}
	net := s.options.Model
	if net == nil {
		if net, err = model.ByKey(t.Model); err != nil {
			return fmt.Errorf("%w (set Options.Model)", err)
		}
	}
	device, err := backend.Open(context.Background(), backend.Options{Name: backend.Go})
	if err != nil {
		return err
	}
	p, err := pcl.NewPredictor(device, net, t, together)
	if err != nil {
		return errors.Join(err, device.Close())
	}
	s.answers.offer(&answerer{Predictor: p, early: true, after: func() { _ = device.Close() }})
	return nil
}

// saveNetwork saves the network that predicts, for the next start. Where there is none before the
// first task, or the method has a rule of prediction of its own, it saves nothing.
func (s *Service) saveNetwork() {
	now := s.answers.newest.Load()
	if now == nil || len(now.Classes()) == 0 || s.learner.Options().Features != nil { // which make its inputs
		return
	}
	t, err := now.Network()
	if errors.Is(err, pcl.ErrClosed) || err == nil && t.OtherScorer { // a newer one is there, and is saved next time
		return
	}
	if err == nil {
		err = t.Save(networkFile(s.options.File))
	}
	if err != nil {
		s.options.Log.Error("serve: the network for the next start was not saved", "error", err)
	}
}

// prepare makes the learner, if it has to be made.
func (s *Service) prepare(ctx context.Context) error {
	if s.make == nil {
		return nil
	}
	learner, err := s.make(ctx)
	if err == nil {
		if err = s.use(learner); err != nil {
			learner.Close()
		}
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// Learner returns the service's learner, which the program may use as it likes but for closing it.
// Until [Service.Run] has it, Learner waits.
func (s *Service) Learner(ctx context.Context) (*pcl.Learner, error) {
	select {
	case <-s.ready:
		return s.learner, nil
	case <-s.ending.Done():
		return nil, errEnding
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// has says whether the service has its learner.
func (s *Service) has() bool { return isClosed(s.ready) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

var errStarting = statusError{
	errors.New("the service is starting, and has no learner yet: try again"), http.StatusServiceUnavailable,
}

// await waits, but not for ever, until something is there that a request needs.
func (s *Service) await(ctx context.Context, what <-chan struct{}) error {
	if isClosed(what) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-what:
		return nil
	case <-s.ending.Done():
		return errEnding
	case <-ctx.Done():
		return errStarting
	}
}

// readiness is the answer to GET /readyz.
type readiness struct {
	Ready   bool     `json:"ready"`   // whether predictions are answered
	Missing []string `json:"missing"` // what is not ready yet
}

func (r readiness) status() int {
	if r.Ready {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

// readyz answers with status 200 as soon as predictions are answered, and says what is not ready.
func (s *Service) readyz(context.Context) (any, error) { return s.readiness(), nil }

func (s *Service) readiness() readiness {
	now := s.answers.newest.Load()
	r := readiness{Ready: now != nil && s.ending.Err() == nil, Missing: []string{}}
	if now == nil {
		r.Missing = append(r.Missing, "predictions")
	}
	if !s.has() {
		r.Missing = append(r.Missing, "training")
	} else if !s.isWhole() {
		r.Missing = append(r.Missing, "journal")
	}
	return r
}
