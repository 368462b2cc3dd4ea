package datasets

import (
	"context"
	"fmt"
	"strings"

	"github.com/parallelcl/parallelcl/datasets/glyphs"
)

// glyphSet opens a set of glyphs that is generated with the given configuration. The seed of the options is added to
// the configuration's own.
func glyphSet(c glyphs.Config) func(ctx context.Context, d *Dataset, o Options) error {
	return func(ctx context.Context, d *Dataset, o Options) error {
		c := c
		c.Seed += o.Seed
		train, test, err := glyphs.Generate(ctx, c)
		if err != nil {
			return err
		}
		d.Classes = strings.Split(glyphs.Classes, "")
		d.Train = Split{Pixels: train.Pixels, Labels: train.Labels}
		d.Test = Split{Pixels: test.Pixels, Labels: test.Labels}
		d.Note = fmt.Sprintf("generated with seed %d", c.Seed)
		return nil
	}
}
