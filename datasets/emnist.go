package datasets

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
)

const (
	characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" // EMNIST ByClass label order
	digits     = "0123456789"

	// The split of the -test80 sets is part of what their names mean, so its seed is fixed.
	test80Seed     = 80
	test80Fraction = 0.8
)

func openEMNIST(_ context.Context, d *Dataset, dir string, _ Options) error {
	return openOfficialIDX(d, dir, "emnist/emnist-byclass-train", "emnist/emnist-byclass-test", characters, true, emnistTrainSamples, emnistTestSamples)
}

func openEMNISTTest80(_ context.Context, d *Dataset, dir string, _ Options) error {
	return openTest80(d, dir, "emnist/emnist-byclass-test", characters, true, emnistTestSamples)
}

func openMNIST(_ context.Context, d *Dataset, dir string, _ Options) error {
	return openOfficialIDX(d, dir, "mnist/train", "mnist/t10k", digits, false, mnistTrainSamples, mnistTestSamples)
}

func openMNISTTest80(_ context.Context, d *Dataset, dir string, _ Options) error {
	return openTest80(d, dir, "mnist/t10k", digits, false, mnistTestSamples)
}

// openOfficialIDX reads the official train and test files. ofTrain and ofTest are the numbers of their images.
func openOfficialIDX(d *Dataset, dir, train, test, classes string, transposed bool, ofTrain, ofTest int) error {
	trainImages, trainLabels := idxNames(train)
	testImages, testLabels := idxNames(test)
	if err := require(dir, d.Name, trainImages, trainLabels, testImages, testLabels); err != nil {
		if require(dir, d.Name, testImages, testLabels) == nil {
			var m *missingError
			if errors.As(err, &m) {
				m.hint = fmt.Sprintf("the test files are there: %s-test80 makes train and test out of them", d.Name)
			}
		}
		return err
	}
	var err error
	d.Classes = strings.Split(classes, "")
	if d.Train, err = openIDX(dir, train, len(classes), transposed); err != nil {
		return err
	}
	if d.Test, err = openIDX(dir, test, len(classes), transposed); err != nil {
		return err
	}
	markSubset(d, ofTrain, ofTest)
	return nil
}

// openTest80 splits the official test files, which have so many images, 80/20 per class.
func openTest80(d *Dataset, dir, test, classes string, transposed bool, official int) error {
	images, labels := idxNames(test)
	if err := require(dir, d.Name, images, labels); err != nil {
		return err
	}
	all, err := openIDX(dir, test, len(classes), transposed)
	if err != nil {
		return err
	}
	first, second, err := Stratified(all.Labels, test80Fraction, test80Seed)
	if err != nil {
		return err
	}
	d.Classes = strings.Split(classes, "")
	d.Train = pick(&all, d.ImageSize(), first)
	d.Test = pick(&all, d.ImageSize(), second)
	d.Note = fmt.Sprintf("train (%d images) and test (%d) are a stratified 80/20 split, seed %d, of the official test file; the official training images are not used, so accuracies do not compare with the literature's",
		d.Train.Len(), d.Test.Len(), test80Seed)
	if all.Len() != official {
		d.Title += fmt.Sprintf(" (subset: %d images)", all.Len())
		d.Note = join(fmt.Sprintf("the files hold %d of %d official test images", all.Len(), official), d.Note)
	}
	return nil
}

// keepEMNIST takes the ByClass files out of the archive that holds all EMNIST sets.
func keepEMNIST(member string) (string, bool) {
	base := path.Base(member)
	return base, path.Dir(member) == "gzip" && strings.HasPrefix(base, "emnist-byclass-")
}
