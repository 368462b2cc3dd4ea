package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	cifarPlane  = 32 * 32
	cifarPixels = 3 * cifarPlane

	// maxCIFARBytes bounds one CIFAR file: train.bin of CIFAR-100, the largest, has 154 MB.
	maxCIFARBytes = 1 << 30
)

var cifar10Train = []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"}

func openCIFAR100(ctx context.Context, d *Dataset, dir string, _ Options) error {
	const folder = "cifar-100-binary/"
	if err := require(dir, d.Name, folder+"train.bin", folder+"test.bin", folder+"fine_label_names.txt"); err != nil {
		return err
	}
	dir = filepath.Join(dir, folder)
	var err error
	if d.Classes, err = readNames(filepath.Join(dir, "fine_label_names.txt"), 100); err != nil {
		return err
	}
	if d.Train, err = readCIFAR(ctx, 2, 100, filepath.Join(dir, "train.bin")); err != nil {
		return err
	}
	if d.Test, err = readCIFAR(ctx, 2, 100, filepath.Join(dir, "test.bin")); err != nil {
		return err
	}
	markSubset(d, cifarTrainSamples, cifarTestSamples)
	return nil
}

func openCIFAR10(ctx context.Context, d *Dataset, dir string, _ Options) error {
	const folder = "cifar-10-batches-bin/"
	if err := require(dir, d.Name, folder+"data_batch_1.bin", folder+"test_batch.bin", folder+"batches.meta.txt"); err != nil {
		return err
	}
	dir = filepath.Join(dir, folder)
	var err error
	if d.Classes, err = readNames(filepath.Join(dir, "batches.meta.txt"), 10); err != nil {
		return err
	}
	var train []string
	for _, name := range cifar10Train {
		if path, ok := locate(dir, name); ok {
			train = append(train, path)
		}
	}
	if d.Train, err = readCIFAR(ctx, 1, 10, train...); err != nil {
		return err
	}
	if d.Test, err = readCIFAR(ctx, 1, 10, filepath.Join(dir, "test_batch.bin")); err != nil {
		return err
	}
	markSubset(d, cifarTrainSamples, cifarTestSamples)
	return nil
}

// markSubset says in title and note where d is smaller than the official set.
func markSubset(d *Dataset, train, test int) {
	if d.Train.Len() == train && d.Test.Len() == test {
		return
	}
	d.Title += fmt.Sprintf(" (subset: %d train, %d test)", d.Train.Len(), d.Test.Len())
	d.Note = fmt.Sprintf("the files hold %d of %d official training images and %d of %d test images", d.Train.Len(), train, d.Test.Len(), test)
}

// readCIFAR reads files of records [labels..., 3072 planar RGB bytes]; the last label byte counts.
func readCIFAR(ctx context.Context, labelBytes, classes int, paths ...string) (Split, error) {
	var s Split
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return Split{}, err
		}
		if err := appendCIFARFile(&s, path, labelBytes, classes); err != nil {
			return Split{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	return s, nil
}

func appendCIFARFile(s *Split, path string, labelBytes, classes int) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > maxCIFARBytes {
		return fmt.Errorf("%d bytes: more than any CIFAR file has (at most %d)", info.Size(), maxCIFARBytes)
	}
	n := int(info.Size()) / (labelBytes + cifarPixels)
	s.grow(n, cifarPixels)
	return decodeCIFAR(s, f, labelBytes, classes)
}

// grow makes room for n more images.
func (s *Split) grow(n, imageSize int) {
	s.Labels = append(make([]int32, 0, len(s.Labels)+n), s.Labels...)
	s.Pixels = append(make([]uint8, 0, len(s.Pixels)+n*imageSize), s.Pixels...)
}

// decodeCIFAR appends the records of r to s, pixels turned from planes to channels last.
func decodeCIFAR(s *Split, r io.Reader, labelBytes, classes int) error {
	record := make([]byte, labelBytes+cifarPixels)
	for i := 0; ; i++ {
		n, err := io.ReadFull(r, record)
		if err == io.EOF && i > 0 {
			return nil
		}
		if err == io.EOF {
			return errors.New("empty file")
		}
		if err == io.ErrUnexpectedEOF {
			return fmt.Errorf("record %d has %d of %d bytes: the file is cut short or not in this format", i, n, len(record))
		}
		if err != nil {
			return err
		}
		label := record[labelBytes-1]
		if int(label) >= classes {
			return fmt.Errorf("record %d has label %d: want 0 to %d", i, label, classes-1)
		}
		s.Labels = append(s.Labels, int32(label))
		p := record[labelBytes:]
		for k := range cifarPlane {
			s.Pixels = append(s.Pixels, p[k], p[k+cifarPlane], p[k+2*cifarPlane])
		}
	}
}

// readNames reads one class name per line; blank lines do not count.
func readNames(path string, want int) ([]string, error) {
	data, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" {
			names = append(names, line)
		}
	}
	if len(names) != want {
		return nil, fmt.Errorf("%s: %d names: want %d", path, len(names), want)
	}
	return names, nil
}

// readSmall reads a text file of at most 64 MiB.
func readSmall(path string) ([]byte, error) {
	const limit = 64 << 20
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes: not the file it should be", path, limit)
	}
	return data, nil
}
