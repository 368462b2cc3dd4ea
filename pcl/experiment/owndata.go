package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/datasets"
)

// ErrData says that files which a run needs are missing, or others than those that it is configured
// for: files of its data set, or the network that it begins with.
var ErrData = errors.New("files are missing or have changed")

// dataError is an [ErrData] that says itself what is wrong.
type dataError struct{ error }

func (dataError) Is(target error) bool { return target == ErrData }

func (e dataError) Unwrap() error { return e.error }

// OnData returns the configuration with the checksum of the files in it, if its data set is files
// of your own, was registered with a checksum, or is one of the catalogue of which only a part is
// there. The complete files of such a set have no checksum here: they are the published ones.
// OnData returns [ErrData] if the configuration has another checksum already.
func (c Config) OnData(ctx context.Context, o datasets.Options) (Config, error) {
	info, err := datasets.Inspect(ctx, c.Dataset, c.onSpec(o))
	if err != nil {
		return c, err
	}
	sum, err := onWeights(info.SHA256, c.spec())
	if err != nil {
		return c, err
	}
	return c.on(sum)
}

func (c Config) on(sum string) (Config, error) {
	if c.DataSHA256 != "" && c.DataSHA256 != sum {
		return c, fmt.Errorf("pcl: %s: %w: their SHA-256 is %.12s…, the configuration is for %.12s…", c.Dataset, ErrData,
			sum+strings.Repeat("-", 12), c.DataSHA256)
	}
	c.DataSHA256 = sum
	return c, nil
}

// suit chooses increment, tasks, network and batch for a data set without benchmark settings.
// Opening the set reports what is wrong with it.
func (c *Config) suit(dataset string) {
	info, err := datasets.Inspect(context.Background(), dataset, datasets.Options{})
	if err != nil || info.Classes == 0 {
		return
	}
	c.Increment = "class" // users of their own images ask for the class among all
	c.Tasks = max(1, min(5, info.Classes/2))
	c.cut(info.Classes)
	if info.Channels == 3 && min(info.Height, info.Width) >= 16 && info.Height%2 == 0 && info.Width%2 == 0 {
		c.Model, c.Hidden, c.StemChannels = "resnet18", nil, 16
	}
	const steps = 50 // that each task should have at least
	for info.Train > 0 && c.Batch > 8 && info.Train/c.Tasks < steps*c.Batch {
		c.Batch /= 2
	}
}

// cut makes tasks of about the same number of classes.
func (c *Config) cut(classes int) {
	c.MinClasses, c.MaxClasses = classes/c.Tasks, (classes+c.Tasks-1)/c.Tasks
}

// recut adapts the default number of classes of a task to a number of tasks that the user chose
// alone and that it does not allow, as long as each has two classes: among fewer nothing is told
// apart in task-incremental mode.
func (c *Config) recut(dataset string) {
	info, err := datasets.Inspect(context.Background(), dataset, datasets.Options{})
	if err == nil && info.Classes >= 2*c.Tasks &&
		(c.Tasks*c.MinClasses > info.Classes || c.Tasks*c.MaxClasses < info.Classes) {
		c.cut(info.Classes)
	}
}

// Folder returns the name of a run's folder. It consists of the settings that differ most often
// from run to run, and of the ID. It does not depend on the content of the files of a data set, so
// that a run notices if that has changed since the folder was made.
func (c Config) Folder() string {
	c.DataSHA256 = ""
	return fmt.Sprintf("%s-%s-%s-s%d-%s", label(c.Dataset), c.Increment, label(c.Method), c.Seed, c.ID())
}

// label is the name of a data set or a method as part of a folder's name: "folder-photos" for
// "folder:/data/photos?size=32x32".
func label(dataset string) string {
	kind, path, own := strings.Cut(dataset, ":")
	if !own {
		return dataset
	}
	if i := strings.LastIndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	base := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, filepath.Base(filepath.Clean(path)))
	return kind + "-" + base[:min(len(base), 40)]
}
