package datasets

import (
	"context"
	"fmt"
	"strings"

	"github.com/parallelcl/parallelcl/datasets/glyphs"
)

func openGlyphs(ctx context.Context, d *Dataset, _ string, o Options) error {
	train, test, err := glyphs.Generate(ctx, glyphs.Config{Seed: o.Seed})
	if err != nil {
		return err
	}
	d.Classes = strings.Split(glyphs.Classes, "")
	d.Train, d.Test = Split(train), Split(test)
	d.Note = fmt.Sprintf("generated with seed %d", o.Seed)
	return nil
}
