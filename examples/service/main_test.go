package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/parallelcl/parallelcl/serve"
)

// TestMain is the service itself if the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv("SERVICE_ARGUMENTS") != "" {
		os.Args = append(os.Args[:1], strings.Fields(os.Getenv("SERVICE_ARGUMENTS"))...)
		main()
		return
	}
	os.Exit(m.Run())
}

// TestTerminated: SIGTERM ends the program without an error, and everything is saved.
func TestTerminated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM")
	}
	file := filepath.Join(t.TempDir(), "service.pcl")
	run := func() (url string, terminate func()) {
		p := exec.Command(os.Args[0])
		p.Env = append(os.Environ(), fmt.Sprintf(
			"SERVICE_ARGUMENTS=-addr 127.0.0.1:0 -backend go -inputs 8 -outputs 4 -file %s", file))
		said, err := p.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Process.Kill() })
		line, err := bufio.NewReader(said).ReadString('\n')
		_, addr, ok := strings.Cut(strings.TrimSpace(line), "listening on ")
		if err != nil || !ok {
			t.Fatalf("%q, %v", line, err)
		}
		return "http://" + addr, func() {
			if err := p.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := p.Wait(); err != nil {
				t.Fatal(err)
			}
		}
	}
	url, terminate := run()
	post(t, url+"/tasks", `{"classes": [0, 1]}`)
	var x, classes []string
	for i := range 500 {
		one := []string{"0.1", "0.2", "0.3", "0.4", "0.3", "0.2", "0.1", "0"}
		one[i%2] = "1"
		x, classes = append(x, "["+strings.Join(one, ",")+"]"), append(classes, fmt.Sprint(i%2))
	}
	taken := post(t, url+"/learn", fmt.Sprintf(`{"task": 1, "x": [%s], "classes": [%s]}`, strings.Join(x, ","),
		strings.Join(classes, ",")))
	if !strings.HasPrefix(taken, `{"taken":500,`) {
		t.Errorf("500 samples were sent: %s", taken)
	}
	terminate() // most of these samples still wait, and are saved
	url, terminate = run()
	defer terminate()
	var p []struct{ Class int }
	for range 1000 {
		if err := json.Unmarshal([]byte(post(t, url+"/predict", fmt.Sprintf(`{"x": [%s, %s]}`, x[0], x[1]))),
			&p); err != nil {
			t.Fatal(err)
		}
		if len(p) == 2 && p[0].Class == 0 && p[1].Class == 1 {
			return
		}
	}
	t.Errorf("the samples are predicted as %+v after a restart", p)
}

// TestBusyAddress: a service that cannot listen is an error, and leaves its file to the next one.
func TestBusyAddress(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	file := filepath.Join(t.TempDir(), "service.pcl")
	o, small := serve.Options{File: file}, maker{backend: "go", inputs: 8, outputs: 4}
	if err := run(t.Context(), busy.Addr().String(), o, small); err == nil {
		t.Fatal("no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, "127.0.0.1:0", o, small); err != nil {
		t.Fatal(err)
	}
}

// post returns the answer to a request.
func post(t *testing.T, url, text string) string {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(r.Body); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}
