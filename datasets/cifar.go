package datasets

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	cifarPlane  = 32 * 32
	cifarPixels = 3 * cifarPlane

	// maxCIFARBytes bounds one CIFAR file: train.bin of CIFAR-100, the largest, has 154 MB.
	maxCIFARBytes = 1 << 30
)

// A cifarFormat is a set in the binary format of CIFAR: records of label bytes, of which the last
// counts, and pixels.
type cifarFormat struct {
	labelBytes, classes int
	folder              string
	train               []string
	test, names         string
}

var (
	cifar10Format = cifarFormat{1, 10, "cifar-10-batches-bin",
		[]string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
		"test_batch.bin", "batches.meta.txt"}
	cifar100Format = cifarFormat{2, 100, "cifar-100-binary", []string{"train.bin"}, "test.bin", "fine_label_names.txt"}
)

func (f cifarFormat) open(ctx context.Context, d *Dataset, dir string) (err error) {
	dir = filepath.Join(dir, f.folder)
	if d.Classes, err = readNames(filepath.Join(dir, f.names), f.classes); err != nil {
		return err
	}
	var train []string
	for _, name := range f.train {
		if path, ok := locate(dir, name); ok {
			train = append(train, path)
		}
	}
	if d.Train, err = f.read(ctx, train...); err != nil {
		return err
	}
	d.Test, err = f.read(ctx, filepath.Join(dir, f.test))
	markSubset(d, cifarTrainSamples, cifarTestSamples)
	return err
}

func (f cifarFormat) list(path string, _ File) (c content, err error) {
	if filepath.Base(path) == f.names {
		return content{check: func(context.Context) error {
			_, err := readNames(path, f.classes)
			return err
		}}, nil
	}
	err = withFile(path, maxCIFARBytes, func(_ *os.File, size int64) error {
		c = content{f.records(size), []string{path}, func(ctx context.Context) error {
			_, err := f.read(ctx, path)
			return err
		}}
		return nil
	})
	return c, err
}

// records is how many images a file of that size has.
func (f cifarFormat) records(size int64) int { return int(size) / (f.labelBytes + cifarPixels) }

// markSubset says in title and note where d is smaller than the official set.
func markSubset(d *Dataset, train, test int) {
	if d.Train.Len() == train && d.Test.Len() == test {
		return
	}
	d.Title += fmt.Sprintf(" (subset: %d train, %d test)", d.Train.Len(), d.Test.Len())
	d.Note = fmt.Sprintf("the files hold %d of %d official training images and %d of %d "+
		"test images", d.Train.Len(), train, d.Test.Len(), test)
}

func (f cifarFormat) read(ctx context.Context, paths ...string) (s Split, err error) {
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		err := withFile(path, maxCIFARBytes, func(file *os.File, size int64) error {
			s.Labels = slices.Grow(s.Labels, f.records(size))
			s.Pixels = slices.Grow(s.Pixels, f.records(size)*cifarPixels)
			return decodeCIFAR(&s, bufio.NewReaderSize(file, 1<<16), f.labelBytes, f.classes)
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// decodeCIFAR appends the records of r to s, pixels turned from planes to channels last.
func decodeCIFAR(s *Split, r io.Reader, labelBytes, classes int) error {
	record := make([]byte, labelBytes+cifarPixels)
	for i := 0; ; i++ {
		n, err := io.ReadFull(r, record)
		if err == io.EOF && i > 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("record %d has %d of %d bytes, the file is cut short or not in this "+
				"format: %w", i, n, len(record), err)
		}
		label := record[labelBytes-1]
		if int(label) >= classes {
			return fmt.Errorf("record %d has label %d; want 0 to %d", i, label, classes-1)
		}
		s.Labels = append(s.Labels, int32(label))
		p := record[labelBytes:]
		for k := range cifarPlane {
			s.Pixels = append(s.Pixels, p[k], p[k+cifarPlane], p[k+2*cifarPlane])
		}
	}
}

const maxTextBytes = 64 << 20 // of a file of names

// readNames reads one class name per line; blank lines do not count.
func readNames(path string, want int) (names []string, err error) {
	text, err := readFile(path, maxTextBytes)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			names = append(names, line)
		}
	}
	if len(names) != want {
		return nil, fmt.Errorf("%s: %d names; want %d", path, len(names), want)
	}
	return names, nil
}
