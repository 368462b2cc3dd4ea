package cli

import (
	"cmp"
	"errors"
	"fmt"
	"image/png"
	"io"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// dataCmd is `pcl data`, which lists, downloads, verifies and draws image sets, and looks after
// their features.
type dataCmd struct {
	List     dataListCmd     `cmd:"" help:"List the image sets, their size, and whether their files are here."`
	Fetch    dataFetchCmd    `cmd:"" help:"Download image sets from their publishers and verify them."`
	Verify   dataVerifyCmd   `cmd:"" help:"Compare the files that are here with the published checksums."`
	Preview  dataPreviewCmd  `cmd:"" help:"Draw a contact sheet of a set, labelled by class."`
	Features dataFeaturesCmd `cmd:"" help:"List the features of pictures that are kept, and remove them."`
}

// dataDir is the flag that all subcommands have.
type dataDir struct {
	Dir string `placeholder:"DIR" type:"path" help:"Data folder (default: $$PARALLELCL_DATA, else parallelcl/data in the user's cache folder)."`
}

type dataListCmd struct {
	dataDir
	JSON  bool     `name:"json" help:"Print all that is known (addresses, checksums, licences, citations) as JSON."`
	Names []string `arg:"" optional:"" name:"name" help:"Sets to list, also files of your own such as folder:PATH. Without names, all sets that have one."`
}

func (c *dataListCmd) Run(rc *runContext) error {
	list := make([]datasets.Info, len(c.Names))
	for i, name := range c.Names {
		var err error
		if list[i], err = datasets.Inspect(rc.ctx, name, datasets.Options{Dir: c.Dir}); err != nil {
			return err
		}
	}
	if len(c.Names) == 0 {
		list = datasets.List()
	}
	return rc.print(c.JSON, list, func(out io.Writer) error {
		t := newTable("NAME", "TITLE", "CLASSES", "IMAGE", "DOWNLOAD", "HERE")
		for _, i := range list {
			size, classes, bytes := "-", "-", int64(0)
			if i.Classes > 0 {
				classes = fmt.Sprint(i.Classes)
			}
			for _, d := range i.Downloads {
				bytes += d.Bytes
				size = fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
			}
			here, err := c.here(i)
			if err != nil {
				return err
			}
			t.row(i.Name, i.Title, classes, cmp.Or(i.Image, "-"), size, here)
		}
		return t.print(out)
	})
}

// here says how many of a set's files are in the data folder.
func (c *dataListCmd) here(i datasets.Info) (string, error) {
	missing, err := datasets.MissingFiles(i.Name, datasets.Options{Dir: c.Dir})
	if err != nil {
		return "", err
	}
	switch {
	case len(i.Files) == 0 && datasets.OwnPath(i.Name) == "":
		return "built in", nil
	case len(missing) == 0:
		return "yes", nil
	case len(missing) == len(i.Files):
		return "no", nil
	}
	return fmt.Sprintf("%d of %d files", len(i.Files)-len(missing), len(i.Files)), nil
}

type dataFetchCmd struct {
	dataDir
	Names []string `arg:"" name:"name" help:"Image sets to fetch."`
}

func (c *dataFetchCmd) Run(rc *runContext) error {
	o := datasets.Options{Dir: c.Dir, Progress: rc.progress()}
	for _, name := range c.Names {
		if err := datasets.Fetch(rc.ctx, name, o); err != nil {
			return err
		}
	}
	return nil
}

type dataVerifyCmd struct {
	dataDir
	Names []string `arg:"" optional:"" name:"name" help:"Sets to verify, also files of your own such as folder:PATH. Without names, all sets are verified, and missing files are not an error."`
}

func (c *dataVerifyCmd) Run(rc *runContext) error {
	names := c.Names
	for _, i := range datasets.List() {
		if len(c.Names) == 0 {
			names = append(names, i.Name)
		}
	}
	t := newTable("SET", "FILE", "STATUS", "DETAIL")
	var bad []error
	for _, name := range names {
		files, err := datasets.Verify(rc.ctx, name, datasets.Options{Dir: c.Dir})
		if len(files) == 0 {
			if err != nil {
				return err
			}
			t.row(name, "(generated)", "ok", "")
		}
		damaged := len(c.Names) > 0
		for _, f := range files {
			t.row(name, f.Path, f.Status, f.Detail)
			damaged = damaged || f.Status == "damaged"
		}
		if damaged {
			bad = append(bad, err)
		}
	}
	return errors.Join(append(bad, t.print(rc.stdout))...)
}

type dataPreviewCmd struct {
	dataDir
	Name     string `arg:"" help:"Set to draw, also files of your own such as folder:PATH."`
	Out      string `required:"" placeholder:"FILE.png" type:"path" help:"PNG file to write."`
	PerClass int    `range:"whole [1,inf)" default:"10" help:"Images of each class."`
	Seed     uint64 `default:"0" help:"Seed of a generated set."`
}

// Validate checks the file's name.
func (c *dataPreviewCmd) Validate() error { return checkEnding("--out", c.Out, ".png") }

func (c *dataPreviewCmd) Run(rc *runContext) error {
	d, err := datasets.Open(rc.ctx, c.Name, datasets.Options{Dir: c.Dir, Seed: c.Seed})
	if err != nil {
		return err
	}
	sheet, err := datasets.ContactSheet(d, c.PerClass)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(c.Out, func(w io.Writer) error { return png.Encode(w, sheet) }); err != nil {
		return err
	}
	return rc.done("%s: %d classes, %d per class%s", c.Out, len(d.Classes), c.PerClass, noteOf(d))
}

// noteOf is the set's note on a line of its own.
func noteOf(d *datasets.Dataset) string {
	if d == nil || d.UserNote() == "" {
		return ""
	}
	return "\n" + d.UserNote()
}
