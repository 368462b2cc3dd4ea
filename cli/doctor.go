package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/backend"
)

// doctorCmd reports on this machine: versions, backends, and how fast each backend multiplies matrices.
type doctorCmd struct {
	JSON      bool   `name:"json" help:"Print the report as JSON."`
	Backend   string `default:"auto" enum:"auto,xla-cuda,xla-cpu,go" help:"Examine one backend only: ${enum}."`
	Threads   int    `range:"whole [0,inf)" help:"Threads of the XLA CPU backend; 0 is the default, 1."`
	Vectors   string `default:"native" enum:"native,avx2" help:"Vector instructions of the XLA CPU backend: ${enum}."`
	NoInstall bool   `name:"no-install" help:"Download nothing."`
}

// Run examines the machine and prints the report. No working backend is an error.
func (c *doctorCmd) Run(rc *runContext) error {
	report := backend.Doctor(rc.ctx, backend.Options{Name: c.Backend, Threads: c.Threads, Vectors: c.Vectors, NoInstall: c.NoInstall, Progress: rc.progress()})
	if err := rc.ctx.Err(); err != nil {
		return err
	}
	if len(report.Backends) > 0 || c.JSON { // without backends there is only an error to show
		if err := rc.print(c.JSON, report, func(out io.Writer) error { return printDoctor(out, report) }); err != nil {
			return err
		}
	}
	if report.Error != "" {
		return errors.New(report.Error)
	}
	return nil
}

func printDoctor(out io.Writer, r backend.Report) error {
	fmt.Fprintln(out, "Machine")
	err := machineTable(r).print(out)
	fmt.Fprintln(out)
	err = errors.Join(err, speedTable(r.Backends).print(out))
	fmt.Fprintln(out)
	for _, b := range r.Backends {
		err = errors.Join(err, printDetails(out, b))
	}
	if r.Chosen != "" {
		fmt.Fprintf(out, "\nIn use: %s (%s)\n", r.Chosen, r.Reason)
	}
	return err
}

func machineTable(r backend.Report) *table {
	t := &table{indent: "  "}
	t.row("System", r.OS+"/"+r.Arch+", "+r.Go)
	t.row("Processor", fmt.Sprintf("%s, %d cores", r.CPU, r.Cores))
	if r.Memory > 0 {
		t.row("Memory", fmt.Sprintf("%.1f GB, %.1f GB available", float64(r.Memory)/1e9, float64(r.Free)/1e9))
	}
	gpu := "none found"
	if r.GPU {
		gpu = "found"
	}
	t.row("NVIDIA GPU", gpu).row("Cache folder", cmp.Or(r.CacheDir, "-"))
	for _, m := range r.Modules {
		t.row(strings.TrimPrefix(m.Path, "github.com/gomlx/"), m.Version)
	}
	return t
}

// speedTable has one row for each backend. Why a backend does not work is left to printDetails.
func speedTable(backends []backend.BackendReport) *table {
	t := &table{indent: "  "}
	t.row("Backend", "Works", "Threads", "Devices", "Opened in", "Matmul, GFLOP/s")
	for _, b := range backends {
		if b.Info == nil {
			t.row(b.Name, yesNo[b.Available], "-", "-", "-", "-")
			continue
		}
		var speeds []string
		for _, m := range b.Matmul {
			speeds = append(speeds, fmt.Sprintf("%d³: %.1f", m.N, m.GFLOPS))
		}
		t.row(b.Name, yesNo[b.Available && b.Error == ""], b.Info.Threads, b.Info.Devices, fmt.Sprintf("%.0f ms", b.Open*1e3),
			cmp.Or(strings.Join(speeds, ", "), "-"))
	}
	return t
}

func printDetails(out io.Writer, b backend.BackendReport) error {
	what, t := cmp.Or(b.Error, b.Reason), &table{indent: "  "}
	if b.Error == "" && b.Info != nil {
		what = "on " + b.Info.Device
		if b.Info.Vectors != "" {
			t.row("Vectors", b.Info.Vectors)
		}
	}
	fmt.Fprintf(out, "%s: %s\n", b.Name, what)
	if p := b.Plugin; p != nil {
		t.row("Plugin", p.Path).row("PJRT API", b.Info.PluginVersion)
		t.row("Size", fmt.Sprintf("%.0f MB", float64(p.Bytes)/1e6)).row("SHA-256", p.SHA256+testedNote(p.Tested))
	}
	return t.print(out)
}

func testedNote(tested bool) string {
	if tested {
		return " (the tested build)"
	}
	return " (not the build that parallelcl is tested with)"
}

var yesNo = map[bool]string{false: "no", true: "yes"}
