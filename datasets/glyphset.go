package datasets

import (
	"context"
	"fmt"
	"strings"

	"github.com/parallelcl/parallelcl/datasets/glyphs"
)

// glyphSet opens a set of glyphs that is generated with the given configuration. The seed of the options is added to
// the configuration's own.
func glyphSet(c glyphs.Config) func(ctx context.Context, d *Dataset, dir string, o Options) error {
	return func(ctx context.Context, d *Dataset, _ string, o Options) error {
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

// tuningGlyphs is a set of its own on which parameters are chosen, so that no table is tuned on its own images: other
// draws, twice as many, and weaker distortions.
var tuningGlyphs = glyphs.Config{Seed: 1000, TrainPerClass: 800, Difficulty: 0.6}

var openGlyphs, openTuningGlyphs = glyphSet(glyphs.Config{}), glyphSet(tuningGlyphs)
