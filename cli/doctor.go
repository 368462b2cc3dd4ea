package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/parallelcl/parallelcl/pcl/backend"
)

// doctorCmd reports on this machine, its backends, and how fast each backend multiplies matrices.
type doctorCmd struct {
	JSON    bool   `name:"json" help:"Print the report as JSON."`
	Backend string `default:"auto" enum:"auto,xla-cuda,xla-cpu,go" help:"Examine one backend only: ${enum}."`
	Threads int    `range:"whole [0,inf)" help:"Threads of the XLA CPU backend; 0 is the default, 1."`
}

// Run examines the machine and prints the report. No working backend is an error.
func (c *doctorCmd) Run(rc *runContext) error {
	report := backend.Doctor(rc.ctx, backend.Options{Name: c.Backend, Threads: c.Threads, Progress: rc.progress()})
	if err := rc.ctx.Err(); err != nil {
		return err
	}
	if err := rc.print(c.JSON, report, func(out io.Writer) error { return printDoctor(out, report) }); err != nil {
		return err
	}
	if report.Error != "" {
		return errors.New(report.Error)
	}
	return nil
}

func printDoctor(out io.Writer, r backend.Report) error {
	t := newTable("Machine")
	t.row("System", r.OS+"/"+r.Arch+", "+r.Go)
	t.row("Processor", fmt.Sprintf("%s, %d cores", r.CPU, r.Cores))
	t.row("Memory", fmt.Sprintf("%.1f GB, %.1f GB available", float64(r.Memory)/1e9, float64(r.Free)/1e9))
	t.row("NVIDIA GPU", yesNo[r.GPU]).row("Cache folder", cmp.Or(r.CacheDir, "-"))
	for _, b := range r.Backends {
		t.row("").row(b.Name).row("Works", yesNo[b.Error == ""])
		if b.Error != "" {
			t.row("Why", b.Error)
		}
		if b.Info == nil {
			continue
		}
		t.row("Device", fmt.Sprintf("%s, %d threads %s", b.Info.Device, b.Info.Threads, b.Info.Vectors))
		t.row("Opened in", fmt.Sprintf("%.0f ms", b.Open*1e3))
		for _, m := range b.Matmul {
			t.row("Matmul", fmt.Sprintf("%d³: %.1f GFLOP/s", m.N, m.GFLOPS))
		}
		if b.Info.Plugin != "" {
			t.row("Plugin", b.Info.Plugin).row("PJRT API", b.Info.PluginVersion)
		}
	}
	err := t.print(out)
	if r.Chosen != "" {
		fmt.Fprintf(out, "\nIn use: %s\n", r.Chosen)
	}
	return err
}

var yesNo = map[bool]string{false: "no", true: "yes"}
