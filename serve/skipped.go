package serve

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl"
)

// note counts the batches that a step could not train on, although their samples had been taken: their loss or its gradient
// was not finite, as for values like 1e30. The log is told of a task's first such batch, its second, its fourth, and so on.
func (s *Service) note(report *pcl.StepReport) {
	if report == nil {
		return
	}
	lost := report.Skipped
	if report.Rejected {
		lost = append(report.IDs[:len(report.IDs):len(report.IDs)], lost...)
	}
	for _, id := range lost {
		counter, _ := s.skipped.LoadOrStore(id, new(atomic.Int64))
		n := counter.(*atomic.Int64).Add(1)
		if bits.OnesCount64(uint64(n)) > 1 {
			continue
		}
		whose := fmt.Sprintf("task %d", id)
		if id == 0 {
			whose = "the memory"
		}
		s.options.ErrorLog.Printf("serve: step %d: a batch of %s could not be trained on, since its loss or gradient is not finite (%d so far)", report.Step, whose, n)
	}
}

// skippedOf is how many batches of a task were not trained on since the service began.
func (s *Service) skippedOf(id int) int64 {
	if n, ok := s.skipped.Load(id); ok {
		return n.(*atomic.Int64).Load()
	}
	return 0
}
