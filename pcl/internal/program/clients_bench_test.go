//go:build cgo && unix

package program_test

import (
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
)

type network struct {
	name  string
	batch int
	model model.Model
}

func networks(b *testing.B) []network {
	mlp, err := model.NewMLP(784, []int{128, 64}, 62)
	if err != nil {
		b.Fatal(err)
	}
	resnet, err := model.NewResNet18(model.ResNetConfig{Height: 32, Width: 32, Channels: 3, Base: 16, Outputs: 100})
	if err != nil {
		b.Fatal(err)
	}
	return []network{{"MLP", 128, mlp}, {"ResNet-18-width-16", 32, resnet}}
}

// BenchmarkClients times the gradients of a step on two clients, and on one: in turn, since a machine's
// speed drifts. It gives the medians, their ratio and that of the shortest times.
func BenchmarkClients(b *testing.B) {
	be := pcltest.Clients(b, 2)
	for _, n := range networks(b) {
		for _, k := range []int{4, 6} {
			b.Run(fmt.Sprintf("%s/K=%d", n.name, k), func(b *testing.B) {
				tasks := []*task{newTask(b, be, 1, n.model, k, n.batch), newTask(b, be, 2, n.model, k, n.batch)}
				var times, cpu [2][]float64
				timed := func(i int) (wall, used float64) {
					began, before := time.Now(), cpuSeconds(b)
					out, err := tasks[i].run()
					wall, used = time.Since(began).Seconds(), cpuSeconds(b)-before
					if err != nil {
						b.Fatal(err)
					}
					for _, o := range out {
						program.Free(o...)
					}
					return wall, used
				}
				for range 3 {
					timed(0)
					timed(1)
				}
				for b.Loop() {
					for i := range tasks {
						wall, used := timed(i)
						times[i], cpu[i] = append(times[i], wall), append(cpu[i], used)
					}
				}
				for i := range times {
					slices.Sort(times[i])
					b.ReportMetric(1e3*median(times[i]), fmt.Sprintf("ms-on-%d", i+1))
					b.ReportMetric(1e3*mean(cpu[i]), fmt.Sprintf("cpu-ms-on-%d", i+1))
				}
				b.ReportMetric(median(times[1])/median(times[0]), "ratio")
				b.ReportMetric(times[1][0]/times[0][0], "ratio-of-shortest")
			})
		}
	}
}

// BenchmarkCompileOnClients times compiling a gradient for two clients: one after the other, and beside
// each other.
func BenchmarkCompileOnClients(b *testing.B) {
	be := pcltest.Clients(b, 2)
	for _, n := range networks(b) {
		b.Run(n.name, func(b *testing.B) {
			compileFor := func(i int) {
				p, err := program.Compile(be.Clients()[i], new(program.Counter), "gradient", gradientInputs(n.model, n.batch), gradientOf(n.model))
				if err != nil {
					b.Error(err)
				}
				p.Close()
			}
			var one, after, beside []float64
			for b.Loop() {
				began := time.Now()
				compileFor(0)
				one = append(one, time.Since(began).Seconds())
				compileFor(1)
				after = append(after, time.Since(began).Seconds())
				began = time.Now()
				var both sync.WaitGroup
				both.Go(func() { compileFor(0) })
				both.Go(func() { compileFor(1) })
				both.Wait()
				beside = append(beside, time.Since(began).Seconds())
			}
			for name, times := range map[string][]float64{"ms-for-one": one, "ms-one-after-the-other": after, "ms-beside-each-other": beside} {
				slices.Sort(times)
				b.ReportMetric(1e3*median(times), name)
			}
		})
	}
}

func median(sorted []float64) float64 { return sorted[len(sorted)/2] }

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// cpuSeconds is how long this process has computed, on all cores.
func cpuSeconds(b *testing.B) float64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()).Seconds()
}
