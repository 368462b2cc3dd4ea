package serve

import (
	"bytes"
	"encoding/binary"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
)

// BenchmarkLearn takes requests of 32 samples of 784 values, from 1 and from 16 clients at once,
// without training on them: what a journal costs is its time per sample beside that without one.
func BenchmarkLearn(b *testing.B) {
	for name, journal := range map[string]bool{"journal": true, "none": false} {
		for _, clients := range []int{1, 16} {
			b.Run(name+map[int]string{1: "/one", 16: "/sixteen"}[clients], func(b *testing.B) {
				file := filepath.Join(b.TempDir(), "service.pcl")
				o := Options{File: file, MaxWaiting: 32 * (b.N + 1)}
				if journal {
					o.Journal = file + "-journal"
				}
				s := openedAs(b, o, func(o *pcl.Options) { o.Model = must.Get(pcl.NewMLP(784, []int{16}, 4))(b) })
				h := s.Handler()
				post(h, b.Context(), "/tasks", bytes.NewReader([]byte(`{"classes": [0]}`)))
				body := must.Get(binary.Append(nil, binary.LittleEndian, make([]float32, 32*784)))(b)
				var failed atomic.Int64
				address := "/learn?task=1&classes=0" + strings.Repeat(",0", 31)
				var sent atomic.Int64
				var all sync.WaitGroup
				b.ResetTimer()
				cpu := processorTime()
				for range clients {
					all.Go(func() {
						for sent.Add(1) <= int64(b.N) {
							q := httptest.NewRequest("POST", address, bytes.NewReader(body))
							q.Header.Set("Content-Type", "application/octet-stream")
							w := httptest.NewRecorder()
							if h.ServeHTTP(w, q); w.Code != 200 {
								failed.Add(1)
							}
						}
					})
				}
				all.Wait()
				b.StopTimer()
				b.ReportMetric(float64((processorTime()-cpu).Microseconds())/float64(32*b.N), "cpu-µs/sample")
				if failed.Load() > 0 {
					b.Errorf("%d requests failed", failed.Load())
				}
				b.ReportMetric(float64(32*b.N)/b.Elapsed().Seconds(), "samples/s")
				s.unlock()
			})
		}
	}
}
