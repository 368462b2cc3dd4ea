package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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
	report := backend.Doctor(rc.ctx, backend.Options{Name: c.Backend, Threads: c.Threads, Vectors: c.Vectors, NoInstall: c.NoInstall, Progress: progressWriter(rc)})
	if err := rc.ctx.Err(); err != nil {
		return err
	}
	if len(report.Backends) > 0 || c.JSON { // without backends there is only an error to show
		if err := c.print(rc.stdout, report); err != nil {
			return err
		}
	}
	if report.Error != "" {
		return errors.New(report.Error)
	}
	return nil
}

func (c *doctorCmd) print(w io.Writer, r backend.Report) error {
	if c.JSON {
		return printJSON(w, r)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	printMachine(t, r)
	printSpeeds(t, r.Backends)
	printDetails(t, r.Backends)
	if r.Chosen != "" {
		fmt.Fprintf(t, "\nIn use: %s (%s)\n", r.Chosen, r.Reason)
	}
	return t.Flush()
}

func printMachine(w io.Writer, r backend.Report) {
	fmt.Fprintf(w, "Machine\n")
	fmt.Fprintf(w, "  System\t%s/%s, %s\n", r.OS, r.Arch, r.Go)
	fmt.Fprintf(w, "  Processor\t%s, %d cores\n", r.CPU, r.Cores)
	if r.Memory > 0 {
		fmt.Fprintf(w, "  Memory\t%.1f GB, %.1f GB available\n", float64(r.Memory)/1e9, float64(r.Free)/1e9)
	}
	gpu := "none found"
	if r.GPU {
		gpu = "found"
	}
	fmt.Fprintf(w, "  NVIDIA GPU\t%s\n", gpu)
	fmt.Fprintf(w, "  Cache folder\t%s\n", cmp.Or(r.CacheDir, "-"))
	for _, m := range r.Modules {
		fmt.Fprintf(w, "  %s\t%s\n", strings.TrimPrefix(m.Path, "github.com/gomlx/"), m.Version)
	}
}

// printSpeeds prints one row for each backend. Why a backend does not work is left to printDetails.
func printSpeeds(w io.Writer, backends []backend.BackendReport) {
	fmt.Fprintf(w, "\nBackend\tWorks\tThreads\tDevices\tOpened in\tMatmul, GFLOP/s\n")
	for _, b := range backends {
		if b.Info == nil {
			fmt.Fprintf(w, "  %s\t%s\t-\t-\t-\t-\n", b.Name, yesNo[b.Available])
			continue
		}
		var speeds []string
		for _, m := range b.Matmul {
			speeds = append(speeds, fmt.Sprintf("%d³: %.1f", m.N, m.GFLOPS))
		}
		fmt.Fprintf(w, "  %s\t%s\t%d\t%d\t%.0f ms\t%s\n", b.Name, yesNo[b.Available && b.Error == ""],
			b.Info.Threads, b.Info.Devices, b.Open*1e3, cmp.Or(strings.Join(speeds, ", "), "-"))
	}
	fmt.Fprintln(w)
}

func printDetails(w io.Writer, backends []backend.BackendReport) {
	for _, b := range backends {
		switch {
		case b.Error != "":
			fmt.Fprintf(w, "%s: %s\n", b.Name, b.Error)
		case b.Info == nil:
			fmt.Fprintf(w, "%s: %s\n", b.Name, b.Reason)
		default:
			fmt.Fprintf(w, "%s: on %s\n", b.Name, b.Info.Device)
			if b.Info.Vectors != "" {
				fmt.Fprintf(w, "  Vectors\t%s\n", b.Info.Vectors)
			}
		}
		if p := b.Plugin; p != nil {
			fmt.Fprintf(w, "  Plugin\t%s\n", p.Path)
			fmt.Fprintf(w, "  PJRT API\t%s\n", b.Info.PluginVersion)
			fmt.Fprintf(w, "  Size\t%.0f MB\n", float64(p.Bytes)/1e6)
			fmt.Fprintf(w, "  SHA-256\t%s%s\n", p.SHA256, testedNote(p.Tested))
		}
	}
}

func testedNote(tested bool) string {
	if tested {
		return " (the tested build)"
	}
	return " (not the build that parallelcl is tested with)"
}

var yesNo = map[bool]string{false: "no", true: "yes"}
