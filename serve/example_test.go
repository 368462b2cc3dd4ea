package serve_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/serve"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// A service within a server of one's own. Run would train, and have a server itself.
func ExampleService_Handler() {
	device := must(backend.Open(context.Background(), backend.Options{Name: backend.Go}))
	defer device.Close()
	learner := must(pcl.New(context.Background(), pcl.Options{Backend: device, Model: must(pcl.NewMLP(8, []int{32}, 4))}))
	defer learner.Close()
	server := httptest.NewServer(must(serve.New(learner, serve.Options{})).Handler())
	defer server.Close()
	post := func(path, text string) {
		answer := must(http.Post(server.URL+path, "application/json", strings.NewReader(text)))
		defer answer.Body.Close()
		fmt.Print(string(must(io.ReadAll(answer.Body))))
	}
	post("/tasks", `{"name": "sides", "classes": [0, 1], "names": ["left", "right"]}`)
	post("/learn", `{"task": 1, "x": [[1, 0, 0, 0, 0, 0, 0, 0]], "classes": [0]}`)
	post("/learn", `{"task": 1, "x": [[1, 0, 0]], "classes": [0]}`)
	// Output:
	// {"id":1}
	// {"taken":1,"saved":0}
	// {"error":"x: sample 0 has 3 values, want 8","taken":0}
}
