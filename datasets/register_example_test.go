package datasets_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/datasets"
)

// A set of your own, which `pcl run --dataset stripes`, grids and notebooks of your program then
// know too.
func ExampleRegister() {
	datasets.Register(datasets.Spec{
		Info: datasets.Info{Name: "stripes", Title: "Stripes", Classes: 2, Height: 4, Width: 4, Channels: 1},
		Open: func(context.Context, datasets.Options) (*datasets.Dataset, error) {
			d := &datasets.Dataset{Height: 4, Width: 4, Channels: 1, Classes: []string{"across", "down"}}
			for i := range 32 {
				for p := range 16 {
					at := p / 4 // across: the row decides
					if i%2 == 1 {
						at = p % 4
					}
					d.Train.Pixels = append(d.Train.Pixels, uint8(255*((at+i/2)%2)))
				}
				d.Train.Labels = append(d.Train.Labels, int32(i%2))
			}
			d.Test = d.Train
			return d, nil
		},
	})

	d, err := datasets.Open(context.Background(), "stripes", datasets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Title, d.Size(), d.Classes, d.Train.Len())
	// Output: Stripes 4×4×1 [across down] 32
}
