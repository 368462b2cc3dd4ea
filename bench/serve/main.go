// Command serve measures what a service answers beside training: it starts a service in a process
// of its own, whose three tasks have endless random samples, and sends it requests by HTTP.
//
//	go build -o /tmp/serving ./bench/serve && /tmp/serving -net resnet
package main

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

var (
	network = flag.String("net", "mlp",
		"mlp (3072-256-128-20), resnet (ResNet-18 of width 16) or lda (rows of 1280 values)")
	methodName = flag.String("method", "emgd", "how the learner learns")
	rate       = flag.Float64("rate", 20, "requests a second that do not wait for each other")
	samples    = flag.Int("samples", 1, "samples of a request")
	raw        = flag.Bool("raw", false, "send float32 values, not JSON")
	length     = flag.Duration("length", 10*time.Second, "how long each part takes")
	warm       = flag.Int("warm", 60, "steps before the first measurement")
	low        = flag.Int("nice", 0, "how much lower the priority of training is")
	clients    = flag.String("clients", "1 8 64", "numbers of clients that wait for their answers")
	cores      = flag.Int("cores", 0, "how many cores the service has, by taskset; 0 for all")
	python     = flag.String("python", "", "a Python with onnxruntime, which predicts with the service's network")
	child      = flag.String("child", "", "be the service, with this file")
)

func main() {
	flag.Parse()
	run := parent
	if *child != "" {
		run = func() error { return service(*child) }
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// server is a service in a process of its own.
type server struct {
	url     string
	process *exec.Cmd
	began   time.Time
}

// start starts a service, and says how long it took until it predicts and until it has made a step.
func start(file string, train bool) (s *server, predicts, steps time.Duration, err error) {
	s = &server{began: time.Now()}
	command := slices.Concat(os.Args, []string{"-child", file})
	if *cores > 0 {
		command = slices.Concat([]string{"taskset", "-c", fmt.Sprintf("0-%d", *cores-1)}, command)
	}
	s.process = exec.Command(command[0], command[1:]...)
	s.process.Stderr = os.Stderr
	said, err := s.process.StdoutPipe()
	if err != nil {
		return nil, 0, 0, err
	}
	if err := s.process.Start(); err != nil {
		return nil, 0, 0, err
	}
	if _, err := fmt.Fscan(said, &s.url); err != nil {
		return nil, 0, 0, err
	}
	body := request()
	for _, err := s.predict(body); err != nil; _, err = s.predict(body) {
		time.Sleep(time.Millisecond)
	}
	predicts = time.Since(s.began)
	for was := s.status().Steps; train && s.status().Steps == was; {
		time.Sleep(time.Millisecond)
	}
	return s, predicts, time.Since(s.began), nil
}

func (s *server) stop() error {
	if err := s.process.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return s.process.Wait()
}

// status is what the service's process says of itself.
type status struct {
	Steps int
	CPU   float64 // seconds of a processor that the process has used
	RSS   int     // MB in memory, at most so far
}

func (s *server) status() (out status) {
	r, err := http.Get(s.url + "/status")
	if err != nil {
		return out
	}
	defer r.Body.Close()
	_ = json.NewDecoder(r.Body).Decode(&out)
	return out
}

func (s *server) train(on bool) { s.get(fmt.Sprintf("/train?on=%t", on)) }

func (s *server) get(path string) {
	if r, err := http.Get(s.url + path); err == nil {
		r.Body.Close()
	}
}

// request is the body of a request for predictions.
func request() []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([][]float32, *samples)
	for i := range x {
		x[i] = make([]float32, values())
		for p := range x[i] {
			x[i][p] = rng.Float32()
		}
	}
	if *raw {
		var out bytes.Buffer
		_ = binary.Write(&out, binary.LittleEndian, slices.Concat(x...))
		return out.Bytes()
	}
	text, _ := json.Marshal(map[string]any{"x": x})
	return text
}

var transport = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

// predict sends a request, and says how long its answer took.
func (s *server) predict(body []byte) (time.Duration, error) {
	kind := "application/json"
	if *raw {
		kind = "application/octet-stream"
	}
	began := time.Now()
	r, err := transport.Post(s.url+"/predict", kind, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if r.StatusCode != http.StatusOK {
		err = errors.Join(err, errors.New(string(text)))
	}
	return time.Since(began), err
}

// open sends requests at a rate, which do not wait for each other.
func (s *server) open(body []byte) (times []time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	every := time.Duration(float64(time.Second) / *rate)
	for began, due := time.Now(), time.Now(); time.Since(began) < *length; due = due.Add(every) {
		time.Sleep(time.Until(due))
		all.Go(func() {
			if t, err := s.predict(body); err == nil {
				mu.Lock()
				defer mu.Unlock()
				times = append(times, t)
			}
		})
	}
	all.Wait()
	return times
}

// closed has clients send one request after another.
func (s *server) closed(body []byte, n int) (times []time.Duration) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for began := time.Now(); time.Since(began) < *length/2; {
				if t, err := s.predict(body); err == nil {
					mu.Lock()
					times = append(times, t)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return times
}

// measure prints how long answers took, how many there were a second, and what training did.
func (s *server) measure(name string, send func() []time.Duration) {
	before, began := s.status(), time.Now()
	times := send()
	took, after := time.Since(began).Seconds(), s.status()
	slices.Sort(times)
	of := func(q float64) float64 {
		if len(times) == 0 {
			return 0
		}
		return times[int(q*float64(len(times)-1))].Seconds() * 1e3
	}
	fmt.Printf("%-28s p50 %7.2f  p95 %7.2f ms  %7.1f/s  %6.2f steps/s  %5.2f cores  %6.2f ms of processor each  RSS %d "+
		"MB\n",
		name, of(.5), of(.95), float64(len(times))/took, float64(after.Steps-before.Steps)/took, (after.CPU-before.CPU)/took,
		1e3*(after.CPU-before.CPU)/max(1, float64(len(times))), after.RSS)
}

//go:embed runtime.py
var runtimePy string

// compare has ONNX Runtime predict with the network that the service has, in a process of its own.
func (s *server) compare(file string) error {
	if *python == "" {
		return nil
	}
	r, err := http.Get(s.url + "/network.onnx")
	if err != nil {
		return err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = errors.New(string(text))
	}
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		return err
	}
	run := exec.Command(*python, "-c", runtimePy, file, fmt.Sprint(*rate), fmt.Sprint(length.Seconds()/2))
	run.Stdout, run.Stderr = os.Stdout, os.Stderr
	return run.Run()
}

func parent() error {
	dir, err := os.MkdirTemp("", "serving")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "my.pcl")
	fmt.Printf("%s, %s, %d samples of a request, raw %t, nice %d, cores %d of %d\n", *network, *methodName, *samples, *raw,
		*low, *cores, runtime.NumCPU())
	s, _, _, err := start(file, true)
	if err != nil {
		return err
	}
	body := request()
	none := func() []time.Duration { time.Sleep(*length); return nil }
	// compiles, and finds its pace
	for began := time.Now(); s.status().Steps < *warm && time.Since(began) < 3*time.Minute; {
		time.Sleep(*length / 20)
	}
	for turn := range 2 {
		s.measure(fmt.Sprintf("training alone, turn %d", turn), none)
		s.measure(fmt.Sprintf("%g a second, turn %d", *rate, turn), func() []time.Duration { return s.open(body) })
	}
	for one := range strings.FieldsSeq(*clients) {
		var n int
		if _, err := fmt.Sscan(one, &n); err != nil {
			return err
		}
		s.measure(fmt.Sprintf("training, %d clients", n), func() []time.Duration { return s.closed(body, n) })
	}
	s.train(false)
	time.Sleep(time.Second)
	s.measure(fmt.Sprintf("idle, %g a second", *rate), func() []time.Duration { return s.open(body) })
	for one := range strings.FieldsSeq(*clients) {
		var n int
		_, _ = fmt.Sscan(one, &n)
		s.measure(fmt.Sprintf("idle, %d clients", n), func() []time.Duration { return s.closed(body, n) })
	}
	if err := s.compare(filepath.Join(dir, "network.onnx")); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	again, predicts, steps, err := start(file, true)
	if err != nil {
		return err
	}
	fmt.Printf("after a restart: first prediction %v, first step %v\n", predicts.Round(time.Millisecond),
		steps.Round(time.Millisecond))
	return again.stop()
}
