package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/features"
)

// dataFeaturesCmd lists the cache of features and removes parts of it.
type dataFeaturesCmd struct {
	Delete []string `placeholder:"NAME,…" help:"Remove these folders of the cache, or all; the features are computed again where they are needed."`
	JSON   bool     `name:"json" help:"Print the list as JSON."`
}

func (c *dataFeaturesCmd) Run(rc *runContext) error {
	kept, err := features.List("")
	if err != nil {
		return err
	}
	if slices.Equal(c.Delete, []string{"all"}) {
		c.Delete = nil
		for _, k := range kept {
			c.Delete = append(c.Delete, k.Name)
		}
	}
	for _, name := range c.Delete {
		if err := features.Delete(rc.ctx, "", name); err != nil {
			return err
		}
		kept = slices.DeleteFunc(kept, func(k features.Kept) bool { return k.Name == name })
	}
	return rc.print(c.JSON, kept, func(out io.Writer) error {
		if len(kept) == 0 {
			_, err := fmt.Fprintln(out, "The cache has no features.")
			return err
		}
		t := newTable("NAME", "PICTURES", "SIZE", "DAMAGED")
		for _, k := range kept {
			damaged := "-"
			if k.Damaged > 0 {
				damaged = fmt.Sprintf("%.1f MB, made again where it is needed", float64(k.Damaged)/1e6)
			}
			t.row(k.Name, fmt.Sprint(k.Pictures), fmt.Sprintf("%.1f MB", float64(k.Bytes)/1e6), damaged)
		}
		return t.print(out)
	})
}
