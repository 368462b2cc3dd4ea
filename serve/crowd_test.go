package serve

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
)

var crowd = flag.Duration("crowd", 0,
	"how long TestCrowd lasts; it then also fails if an honest client waits for a second")

// TestCrowd: 150 clients that announce bodies and send nothing, 150 that stall in the middle of a
// header or a body, and 100 honest ones. Each honest one is served, and the service, a process of
// its own, stays small. All that was cut off come again.
func TestCrowd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crowd.pcl")
	c, process, kill := killed(t, file)
	defer kill()
	task := c.begin(0, 1)
	end := time.Now().Add(max(2*time.Second, *crowd))
	var all sync.WaitGroup
	for i := range 300 {
		said := []string{
			"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Length: 67108864\r\n\r\n",
			"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Length: 67108864\r\nExpect: 100-continue\r\n\r\n",
			"POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Le",
			"POST /predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n{\"x\": [[",
		}[i%4]
		all.Go(func() { stalls(c, said, end) })
	}
	var mu sync.Mutex
	var took []time.Duration
	for i := range 100 {
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		all.Go(func() {
			for time.Now().Before(end) {
				one := asks(c, task, rng)
				mu.Lock()
				took = append(took, one)
				mu.Unlock()
				time.Sleep(time.Duration(rng.IntN(200)) * time.Millisecond)
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	most, rss := took[len(took)-1], peak(t, process)
	t.Logf("%d honest requests: half took up to %v, 99 in 100 up to %v, the longest %v; the service had up to %d MiB",
		len(took), took[len(took)/2], took[len(took)*99/100], most, rss>>20)
	if rss > 256<<20 {
		t.Errorf("the service took %d MiB", rss>>20)
	}
	if *crowd > 0 && most > time.Second {
		t.Errorf("an honest client waited for %v", most)
	}
}

// stalls says something again and again, and waits each time until it is cut off.
func stalls(c client, said string, end time.Time) {
	for time.Now().Before(end) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
		if err != nil {
			c.t.Error(err)
			return
		}
		fmt.Fprint(conn, said)
		_ = conn.SetReadDeadline(end)
		for answer := make([]byte, 4096); err == nil; {
			_, err = conn.Read(answer)
		}
		conn.Close()
	}
}

// asks sends a request as an honest client does, and says how long it took.
func asks(c client, task int, rng *rand.Rand) time.Duration {
	class, began := rng.IntN(2), time.Now()
	x := [][]float32{sample(class, rng.IntN(1000))}
	var err error
	switch rng.IntN(3) {
	case 0:
		_, err = c.list()
	case 1:
		err = c.try("/predict", request{X: x}, new(any))
	default:
		err = c.try("/learn", request{Task: task, X: x, Classes: []int{class}}, new(any))
	}
	if err != nil {
		c.t.Errorf("an honest client is told: %v", err)
	}
	return time.Since(began)
}

// peak is the largest resident memory that the service has had, in bytes; 0 where the system does
// not say.
func peak(t *testing.T, process int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if err != nil || found == nil {
		return 0
	}
	return must.Get(strconv.Atoi(string(found[1])))(t) << 10
}
