// Command record checks whether a change of the code has changed any result. It makes many small
// runs with a pcl program and prints one line for each, with hashes of the model, the memory, the
// result and the records of all steps. Two programs that compute the same, bit by bit, print the
// same on the same machine:
//
//	go build -o before ./cmd/pcl && go run ./bench/record -pcl ./before > before.txt
//	(change the code)
//	go build -o after ./cmd/pcl && go run ./bench/record -pcl ./after > after.txt
//	diff before.txt after.txt
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/tempdir"
	"github.com/parallelcl/parallelcl/pcl/results"
)

func main() {
	program := flag.String("pcl", "", "the pcl program whose results are recorded")
	avx2 := flag.Bool("avx2", false,
		"compute with the vector instructions that all processors have, for comparison with a record of another one")
	only := flag.String("only", "", "make only the parts whose name contains this")
	flag.Parse()
	if *avx2 { // by the environment, which programs without --vectors read too
		os.Setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
		os.Setenv("XLA_FLAGS", strings.TrimSpace(os.Getenv("XLA_FLAGS")+" --xla_cpu_max_isa=AVX2"))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := record(ctx, os.Stdout, *program, *only); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(ctx context.Context, out io.Writer, program, only string) error {
	if program == "" {
		return fmt.Errorf("no program was named: build one with `go build -o pcl ./cmd/pcl` and name it with -pcl")
	}
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	methods, err := methodNames(ctx, program)
	if err != nil {
		return err
	}
	for _, p := range parts(methods) {
		if !strings.Contains(p.name, only) {
			continue
		}
		fmt.Fprintln(os.Stderr, p.name)
		if err := p.print(ctx, out, program); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// methodNames asks the program which methods it has.
func methodNames(ctx context.Context, program string) ([]string, error) {
	text, err := exec.CommandContext(ctx, program, "methods", "--json").Output()
	if err != nil {
		return nil, fmt.Errorf("%s methods --json: %w", program, err)
	}
	var methods []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(text, &methods); err != nil {
		return nil, err
	}
	var names []string
	for _, m := range methods {
		names = append(names, m.Name)
	}
	sort.Strings(names)
	return names, nil
}

// print makes the runs of a part in a folder of their own and prints a line for each.
func (p part) print(ctx context.Context, out io.Writer, program string) error {
	temp, err := tempdir.Make("parallelcl-record-")
	if err != nil {
		return err
	}
	defer temp.Remove()
	dir := temp.Path
	if p.interrupt {
		if err := p.begin(ctx, program, dir); err != nil {
			return err
		}
	}
	c := p.command(ctx, program, dir)
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, text)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*", results.ResultFile))
	if err != nil {
		return err
	}
	sort.Strings(folders)
	for _, path := range folders {
		line, err := fingerprint(path)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, p.name, line)
	}
	if len(folders) == 0 {
		return fmt.Errorf("no results in %s", dir)
	}
	return nil
}

func (p part) command(ctx context.Context, program, dir string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, append([]string{"run", "--quiet", "--out", dir}, p.flags...)...)
	c.Env = append(os.Environ(), p.env...)
	return c
}

// begin starts the run of a part and interrupts it when there is a checkpoint.
func (p part) begin(ctx context.Context, program, dir string) error {
	c := p.command(ctx, program, dir)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("the run ended before it was interrupted: %v\n%s", err, &said)
		case <-time.After(5 * time.Millisecond):
		}
		if found, _ := filepath.Glob(filepath.Join(dir, "*", "checkpoint*")); len(found) == 0 {
			continue
		}
		if err := c.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		if err := <-ended; err == nil {
			return fmt.Errorf("the run was finished before it was interrupted\n%s", &said)
		}
		return nil
	}
}

// fingerprint hashes what a run computed: everything in its folder that does not depend on the
// clock.
func fingerprint(path string) (string, error) {
	r, err := results.Load(path)
	if err != nil {
		return "", err
	}
	r.Measured = results.Measured{}
	text, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	line := fmt.Sprintf("%s model %.12s memory %.12s result %s", filepath.Base(filepath.Dir(path)), r.ModelSHA256,
		r.MemorySHA256, short(text))
	steps, err := os.ReadFile(filepath.Join(filepath.Dir(path), results.RecordsFile))
	if os.IsNotExist(err) {
		return line, nil
	}
	return line + " records " + short(steps), err
}

func short(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data))[:12] }
