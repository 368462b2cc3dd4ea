package host

import (
	"fmt"
	"math"
	"slices"
	"syscall"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

// spent is the processor time of the process, also of what runs in the background.
func spent() (user, system time.Duration) {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails only for another constant
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

const (
	runTime  = 200 * time.Millisecond // at least, of a run
	runCount = 7                      // at most
	allTime  = 5 * time.Second        // after which no other run begins
)

// timeit runs a loop so often that its time can be read, and says how long it takes.
func timeit(loop func(n int)) {
	n, begun := 1, time.Now()
	run := func() time.Duration {
		begin := time.Now()
		loop(n)
		return time.Since(begin)
	}
	took := run()
	for took < runTime && n < 1e9 {
		more := 1.2 * float64(runTime) / float64(max(took, time.Microsecond))
		n = roundUp(float64(n) * min(more, 100))
		took = run()
	}
	var list []float64 // nanoseconds of a loop
	for {
		if list = append(list, float64(took)/float64(n)); len(list) == runCount || time.Since(begun) > allTime {
			break
		}
		took = run()
	}
	var mean, squares float64
	for _, x := range list {
		mean += x / float64(len(list))
	}
	for _, x := range list {
		squares += (x - mean) * (x - mean) / float64(len(list))
	}
	fmt.Printf("%s ± %s a loop (mean and spread of %d runs of %d loops; best %s)\n", inUnits(mean),
		inUnits(math.Sqrt(squares)), len(list), n, inUnits(slices.Min(list)))
}

// roundUp is a number whose first digit is followed by zeros.
func roundUp(x float64) int {
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	return int(math.Ceil(x/unit) * unit)
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
