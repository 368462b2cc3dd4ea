// Package serve puts a learner behind HTTP: it trains on labelled samples that are pushed to it,
// predicts meanwhile, and goes on after a restart. Begin with [New] and [Service.Run];
// docs/service.md is the guide, and examples/service a program.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/journal"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// Service is a learner behind HTTP.
type Service struct {
	learner *pcl.Learner                                // there when ready is closed
	make    func(context.Context) (*pcl.Learner, error) // makes it; nil if it was given
	ready   chan struct{}
	answers answers
	options Options
	mu      sync.Mutex   // held while tasks begin and go
	streams sync.Map     // id of a task that runs → *data.PushStream
	unlock  func() error // gives the file back
	// held while the learner is saved for the last time, and for reading by requests that change
	// what is saved
	saving   sync.RWMutex
	given    int // ids of tasks up to this one may have been given, as the file of ids says
	saved    tally
	journal  *journal.Journal // nil without one
	whole    chan struct{}    // closed when all is done again that the journal had at the start
	replayed uint64           // the last record that was done again
	early    int64            // the size of the journal at which the learner is saved early
	// held for reading while something that is in the journal, or is coming there, is being done
	still    sync.RWMutex
	decoding chan struct{}      // has an element while a picture is decoded
	room     *room              // of requests in progress
	sending  sync.Mutex         // held while a file of the network is written
	began    atomic.Bool        // whether Run was called
	ending   context.Context    // done when the service ends
	finish   context.CancelFunc // ends it, and requests, whichever server they have come to
	grace    time.Duration      // how long requests in progress may take when the service ends
	stall    time.Duration      // how long a client may send or receive nothing
	skipped  counts             // id of a task → how many of its batches were not trained on
	spoilt   counts             // id of a task → how many of its samples were left out of batches
	watch    watch
	metrics  *metrics
}

// Options of a service.
type Options struct {
	// File is where the learner is saved when the service ends. If it is there at the start, the
	// learner is loaded from it, which must have been made with the same options. It belongs to the
	// service, from [New] to the end of [Service.Run]: a second one is refused, also in another
	// process. Empty saves nothing.
	File string
	// SaveEvery is how often a service that has changed is also saved while it runs: if the program
	// is killed, what came later is lost. A save holds up training, but not predictions. 0 stands
	// for a minute.
	SaveEvery time.Duration
	// Journal is a folder in which the service keeps what arrives before it is answered: after a
	// kill, the next service of the File does again what the file does not have. It belongs to the
	// service and to the File, without which there is none. Empty keeps nothing.
	Journal string
	// Log is told of a save that fails while the service runs, which goes on, of batches and
	// samples that could not be trained on, and of a listener that other machines can reach. nil
	// stands for the default logger of package log/slog.
	Log *slog.Logger
	// MaxWaiting is how many samples of a task may wait to be trained on, before those who send
	// more have to wait; 0 stands for 1024.
	MaxWaiting int
	// MaxClasses is how many classes the tasks may have together; 0 stands for 10,000. A class that
	// several tasks have counts once, except in a task-incremental learner, where each task has
	// outputs of its own. It holds for tasks that begin, not for those in the file. With
	// [pcl.Options.Grow], one request could otherwise make the classifier as large as the memory of
	// the machine.
	MaxClasses int
	// MaxTasks is how many tasks may run at once; 0 stands for 100. Each costs a gradient in each
	// step, and room for Waiting samples.
	MaxTasks int
	// MaxKept is how many tasks are kept, also those that have ended; 0 stands for 10,000. Beyond
	// it no task may begin.
	MaxKept int
	// MaxBuffered is how many bytes the texts of requests in progress, and of their answers, may
	// have together; 0 stands for 256 MiB. They count as they arrive, and a quarter is for the
	// first 32 KiB of each and for the list of tasks, half of it at most: no task may begin with
	// which the list would be longer. What is read from a text takes up to ten times as much.
	// Requests beyond it are answered with status 503.
	MaxBuffered int
	// MaxConnections is how many connections [Service.Run] serves at once; 0 stands for 1024.
	// Others wait.
	MaxConnections int
	// Hosts are the names, without ports, under which clients reach the service, such as
	// "learner.example.org". If there are some, requests that use another name are refused, except
	// for addresses and "localhost"; if there are none, this holds only for requests that come by a
	// loopback address, as those of a browser on the same machine do.
	Hosts []string
	// Pictures is the shape of a sample, where requests may have JPEG and PNG pictures: they are
	// decoded as those of a folder: are. The zero value refuses pictures.
	Pictures datasets.Shape
	// Tokens let clients in. If there are none, everybody who reaches the service may do all; if
	// there are, only GET /livez, /readyz and /metrics need none.
	Tokens []Token
	// Model is the learner's network, which [Start] needs for a network of one's own. nil stands
	// for one of package [github.com/parallelcl/parallelcl/pcl/model].
	Model model.Model
}

// New returns a service with a learner, which is loaded from Options.File unless it has begun.
//
// The program may go on using the learner, but for closing it before the service has ended. Tasks
// that it attaches are there for requests, too: those with a [data.PushStream] take samples also by
// POST /learn. A learner that has begun must have made at least as many steps as that in the file,
// which it replaces.
func New(learner *pcl.Learner, o Options) (*Service, error) {
	s, err := begin(o)
	if err != nil {
		return nil, err
	}
	if err := s.use(learner); err != nil {
		return nil, fmt.Errorf("serve: %w", errors.Join(err, s.unlock()))
	}
	return s, nil
}

// begin returns a service that has no learner yet. It has its file.
func begin(o Options) (*Service, error) {
	for _, host := range o.Hosts {
		if strings.ContainsAny(host, ":/") {
			return nil, fmt.Errorf("serve: the name %q in Options.Hosts: want a name alone, without a port, "+
				"such as learner.example.org", host)
		}
	}
	if err := checkTokens(o.Tokens); err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	if o.Journal != "" && o.File == "" {
		return nil, errors.New("serve: a journal without a file: name one in Options.File, which the journal begins at")
	}
	if o.Pictures != (datasets.Shape{}) {
		if err := o.Pictures.Check(); err != nil {
			return nil, fmt.Errorf("serve: Options.Pictures: %w", err)
		}
	}
	o.fill()
	s := &Service{options: o, room: newRoom(o.MaxBuffered), grace: 10 * time.Second, stall: stall}
	s.decoding = make(chan struct{}, 1)
	s.metrics = newMetrics(s)
	s.ready, s.answers.first = make(chan struct{}), make(chan struct{})
	s.saved.byTask, s.whole, s.early = map[int]int{}, make(chan struct{}), mostKept
	s.ending, s.finish = context.WithCancel(context.Background())
	s.unlock = func() error { return nil }
	if err := s.lock(); err != nil {
		return nil, fmt.Errorf("serve: %w", errors.Join(err, s.unlock()))
	}
	return s, nil
}

// use gives the service its learner.
func (s *Service) use(learner *pcl.Learner) error {
	if learner.Options().Loss != nil {
		return errors.New("the learner takes samples with target values, which cannot be sent: a service is for classes")
	}
	s.learner = learner
	if n := s.options.Pictures.Values(); n > 0 && n != s.width() {
		return fmt.Errorf("Options.Pictures have %d values, and the learner's samples %d", n, s.width())
	}
	if err := s.open(); err != nil {
		return err
	}
	if err := s.renew(); err != nil {
		return err
	}
	close(s.ready)
	return nil
}

// fill puts the usual values in place of 0.
func (o *Options) fill() {
	for limit, usual := range map[*int]int{
		&o.MaxWaiting: 1024, &o.MaxClasses: 10_000, &o.MaxTasks: 100, &o.MaxKept: 10_000, &o.MaxBuffered: 256 << 20,
		&o.MaxConnections: 1024,
	} {
		if *limit = cmp.Or(*limit, usual); *limit < 0 {
			panic(fmt.Sprintf("serve: a limit of Options is %d; want a positive number, or 0 for %d", *limit, usual))
		}
	}
	o.SaveEvery = cmp.Or(o.SaveEvery, time.Minute)
	o.Log = cmp.Or(o.Log, slog.Default())
}

// width is how many values a sample has.
func (s *Service) width() int {
	o := s.learner.Options()
	if o.Features != nil {
		return o.Features.Inputs()
	}
	return o.Model.Inputs()
}

// newTask has a stream that samples are pushed into.
func (s *Service) newTask(name string, classes []int, names []string) (pcl.Task, error) {
	stream, err := data.NewPushStream(s.width(), s.options.MaxWaiting, classes)
	return pcl.Task{Name: name, Classes: classes, ClassNames: names, Stream: stream}, err
}

// Run trains, and answers requests, until ctx is cancelled or training fails. Requests in progress
// then have ten seconds to end. It always saves the learner, and returns. Samples that were taken
// and not trained on are saved, too. A service runs once.
//
// Without a listener, Run only trains and saves: a program with a server of its own gives it
// [Service.Handler].
func (s *Service) Run(ctx context.Context, listener net.Listener) error {
	if s.began.Swap(true) {
		panic("serve: a service runs once: make another one")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler: s.Handler(),
		// A client does not keep its connection: it may send for a minute, wait for room for one,
		// and read for one; see deadline.
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: patience, WriteTimeout: 3 * patience, IdleTimeout: patience / 2,
		MaxHeaderBytes: 16 << 10,
	}
	var failed, replayed error
	var training sync.WaitGroup
	training.Go(func() {
		if failed = s.prepare(ctx); failed == nil && s.has() {
			if !s.isWhole() {
				training.Go(func() {
					if replayed = s.replay(); replayed != nil {
						cancel()
					}
				})
			}
			failed = s.train(ctx)
		}
		s.finish() // nobody waits for room any more
		s.stop(server)
	})
	var err error
	if listener != nil {
		s.warn(listener.Addr())
		err = server.Serve(netutil.LimitListener(listener, s.options.MaxConnections))
		cancel()
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	training.Wait()
	if errors.Is(replayed, context.Canceled) { // the next service does the rest
		replayed = nil
	}
	err = errors.Join(failed, replayed, err, s.saveLast(), s.unlock())
	s.answers.freed.Wait()
	if s.make != nil {
		s.answers.close()
		if s.has() {
			s.learner.Close()
		}
	}
	return err
}

// warn says in the log that others than programs on this machine can reach the service, which asks
// nobody who they are.
func (s *Service) warn(at net.Addr) {
	if len(s.options.Tokens) > 0 {
		return
	}
	if address, err := netip.ParseAddrPort(at.String()); err != nil || !address.Addr().IsLoopback() {
		s.options.Log.Warn("serve: other machines can reach the service, and anybody who does may train and end tasks: "+
			"give it Options.Tokens", "address", at.String())
	}
}

// stop waits for the requests in progress, but not for ever: a client may have stalled.
func (s *Service) stop(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), s.grace)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		server.Close()
	}
}

// train trains until ctx is cancelled. From time to time it renews the snapshot that predicts, and
// saves the learner: a save that fails, for instance because the disk is full, leaves the file as
// it was.
func (s *Service) train(ctx context.Context) error {
	h := pcl.Hooks{OnStep: s.note, Snapshot: s.offer, WaitForTasks: true, Evaluate: s.score}
	if s.options.File != "" {
		h.SaveEvery = s.options.SaveEvery
		h.Save = func() error {
			if ctx.Err() != nil { // saveLast follows
				return nil
			}
			return s.save()
		}
		h.SaveFailed = func(err error) {
			s.options.Log.Error("serve: the learner was not saved, and goes on", "error", err)
		}
	}
	if err := s.learner.Run(ctx, h); ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	return nil
}

// renew takes a snapshot of the learner as it is, and lets it predict.
func (s *Service) renew() error {
	p, err := s.learner.Preview()
	if err == nil {
		s.answers.offer(&answerer{Predictor: p}).free()
	}
	return err
}

// offer lets a snapshot of training predict. Training does not wait for requests.
func (s *Service) offer(p *pcl.Predictor) {
	if unused := s.answers.offer(&answerer{Predictor: p}); unused != nil {
		s.answers.freed.Go(unused.free)
	}
}

// drop drops the streams of tasks that have ended, which are as large as the samples that may wait
// in them.
func (s *Service) drop() {
	s.mu.Lock() // a task must not begin again in between
	defer s.mu.Unlock()
	for _, t := range s.learner.Tasks() {
		if t.Ended {
			s.streams.Delete(t.ID)
		}
	}
}

// note counts the batches and samples that a step could not train on, although they had been taken:
// their loss or its gradient was not finite, as for values like 1e30. The log is told of a task's
// first one (of the memory's, under task 0), its second, its fourth, and so on.
func (s *Service) note(report *pcl.StepReport) error {
	if len(report.Ended) > 0 {
		s.drop()
	}
	s.saveEarly()
	s.watch.step(report, s.learner.Stored)
	lost := report.Skipped
	if report.Rejected {
		lost = append(report.IDs[:len(report.IDs):len(report.IDs)], lost...)
	}
	for _, id := range lost {
		if n, tell := s.skipped.add(id, 1); tell {
			s.options.Log.Warn("serve: a batch could not be trained on, since its loss or gradient is not finite",
				"step", report.Step, "task", id, "so far", n)
		}
	}
	for id, left := range report.LeftOut {
		if n, tell := s.spoilt.add(id, left); tell {
			s.options.Log.Warn("serve: samples, new or stored, were left out, since the loss or gradient of their batch is "+
				"not finite with them", "step", report.Step, "task", id, "so far", n)
		}
	}
	return nil
}

// score notes the accuracies of tasks with test samples.
func (s *Service) score(_ int, accuracy map[int]float64) error {
	s.watch.score(accuracy)
	return nil
}

// counts counts something of each task since the service began.
type counts struct{ byTask sync.Map }

// add says how many there are now, and whether that is worth a line of the log.
func (c *counts) add(id, more int) (n int, tell bool) {
	was := c.of(id)
	c.byTask.Store(id, was+more)
	return was + more, bits.Len(uint(was)) != bits.Len(uint(was+more))
}

func (c *counts) of(id int) int {
	n, _ := c.byTask.Load(id)
	count, _ := n.(int)
	return count
}
