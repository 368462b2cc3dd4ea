package host

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"gonum.org/v1/gonum/stat"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

// spent is the processor time of the process, also of what runs in the background.
func spent() (user, system time.Duration) {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails only for another constant
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

const (
	runTime  = 200e6           // nanoseconds, at least, of a run
	runCount = 7               // at most
	allTime  = 5 * time.Second // after which no other run begins
)

// timeit runs a loop so often that its time can be read, and says how long it takes.
func timeit(loop func(n int)) {
	n, begun := 1, time.Now()
	run := func() float64 {
		begin := time.Now()
		loop(n)
		return float64(time.Since(begin))
	}
	took := run()
	for took < runTime && n < 1e9 {
		n *= 1 + int(min(1.2*runTime/max(took, 1000), 100))
		took = run()
	}
	list := []float64{took / float64(n)} // nanoseconds of a loop
	for len(list) < runCount && time.Since(begun) < allTime {
		list = append(list, run()/float64(n))
	}
	mean, spread := stat.PopMeanStdDev(list, nil)
	fmt.Printf("%s ± %s a loop (mean and spread of %d runs of %d loops; best %s)\n", inUnits(mean), inUnits(spread),
		len(list), n, inUnits(slices.Min(list)))
}

// inUnits is a time of nanoseconds, with three digits.
func inUnits(ns float64) string {
	for _, unit := range []string{"ns", "µs", "ms"} {
		if ns < 999.5 {
			return fmt.Sprintf("%.3g %s", ns, unit)
		}
		ns /= 1000
	}
	return fmt.Sprintf("%.4g s", ns)
}

// order has the kernel do a command.
func order(n int, text string) {
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{rt.OrderKey: text, rt.NumberKey: n}})
}

// Answer says that a command is done; see [rt.Answer].
func (host) Answer(a rt.Done, _ *nothing) error { rt.Answer(a.Number, a.Problem); return nil }
