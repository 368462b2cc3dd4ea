package backend_test

import (
	"context"
	"fmt"
	"os"

	"github.com/parallelcl/parallelcl/pcl/backend"
)

// Open the best backend of the machine; the zero options install the XLA CPU plugin if need be.
func ExampleOpen() {
	b, err := backend.Open(context.Background(), backend.Options{Name: backend.Go, Progress: os.Stderr})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	fmt.Println(b.Info.Name, "because it was", b.Info.Reason)
	// Output:
	// go because it was asked for by name
}
