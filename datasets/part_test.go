package datasets

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sumOfPart returns the checksum that Inspect finds, which must be that of the opened set.
func sumOfPart(t *testing.T, name, dir string) string {
	t.Helper()
	i, err := Inspect(t.Context(), name, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), name, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if d.SHA256 != i.SHA256 {
		t.Errorf("%s: opened %q, inspected %q", name, d.SHA256, i.SHA256)
	}
	if strings.Contains(d.Title, "subset") != (i.SHA256 != "") || strings.Contains(d.Note, "the files hold") != (i.SHA256 != "") {
		t.Errorf("%s with the checksum %q is called %q: %s", name, i.SHA256, d.Title, d.Note)
	}
	return i.SHA256
}

// TestParts: files that are a part of the official ones have a checksum, which differs from part to part, and complete
// ones have none.
func TestParts(t *testing.T) {
	t.Run("IDX", func(t *testing.T) {
		dir, seen := t.TempDir(), map[string]bool{}
		for _, n := range []int{500, 600} {
			fakeIDX(t, dir, "mnist/t10k", n, 10)
			sum := sumOfPart(t, "mnist-test80", dir)
			if len(sum) != 64 || seen[sum] {
				t.Errorf("%d images: checksum %q after %v", n, sum, seen)
			}
			seen[sum] = true
		}
		if sum := sumOfPart(t, "mnist-test80", dir); !seen[sum] {
			t.Error("the same files have another checksum")
		}
		fakeIDX(t, dir, "mnist/t10k", mnistTestSamples, 10)
		if sum := sumOfPart(t, "mnist-test80", dir); sum != "" {
			t.Errorf("the complete file has the checksum %s", sum)
		}
		if i, err := Inspect(t.Context(), "mnist", Options{Dir: dir}); err != nil || i.SHA256 != "" {
			t.Errorf("a set that cannot be opened: %q, %v", i.SHA256, err)
		}
		fakeIDX(t, dir, "mnist/train", 50, 10)
		if sum := sumOfPart(t, "mnist", dir); sum == "" {
			t.Error("50 training images are taken for all")
		}
	})
	t.Run("CIFAR", func(t *testing.T) {
		dir := t.TempDir()
		folder := filepath.Join(dir, "cifar-10-batches-bin")
		var ten []byte
		for l := range byte(10) {
			ten = append(ten, cifarRecord([]byte{l}, 1, 2, 3)...)
		}
		writeFile(t, filepath.Join(folder, "batches.meta.txt"), lines(10))
		writeFile(t, filepath.Join(folder, "test_batch.bin"), ten)
		writeFile(t, filepath.Join(folder, cifar10Format.train[0]), ten)
		one := sumOfPart(t, "cifar-10", dir)
		writeFile(t, filepath.Join(folder, cifar10Format.train[1]), ten)
		two := sumOfPart(t, "cifar-10", dir)
		if err := os.Rename(filepath.Join(folder, cifar10Format.train[1]), filepath.Join(folder, cifar10Format.train[2])); err != nil {
			t.Fatal(err)
		}
		if other := sumOfPart(t, "cifar-10", dir); one == "" || two == one || other == two {
			t.Errorf("checksums %q, %q, %q", one, two, other)
		}
		if testing.Short() {
			return
		}
		batch := bytes.Repeat(ten, cifar10BatchSamples/10)
		for _, name := range cifar10Format.train {
			writeFile(t, filepath.Join(folder, name), batch)
		}
		if sum := sumOfPart(t, "cifar-10", dir); sum == "" {
			t.Error("ten test images are taken for all")
		}
		writeFile(t, filepath.Join(folder, "test_batch.bin"), batch)
		if sum := sumOfPart(t, "cifar-10", dir); sum != "" {
			t.Errorf("the complete set has the checksum %s", sum)
		}
	})
	t.Run("Tiny ImageNet", func(t *testing.T) {
		dir := fakeTiny(t)
		before := sumOfPart(t, "tiny-imagenet-32", dir)
		if err := os.Remove(filepath.Join(dir, tinyFolder, "train/n00000007/images/n00000007_10.JPEG")); err != nil {
			t.Fatal(err)
		}
		if after := sumOfPart(t, "tiny-imagenet-32", dir); before == "" || after == before {
			t.Errorf("without an image the checksum is %q, before it was %q", after, before)
		}
		train := filepath.Join(dir, tinyFolder, "train")
		away := filepath.Join(t.TempDir(), "train")
		if err := os.Rename(train, away); err != nil {
			t.Fatal(err)
		}
		link(t, away, train)
		before = sumOfPart(t, "tiny-imagenet-32", dir)
		if err := os.Remove(filepath.Join(away, "n00000008/images/n00000008_10.JPEG")); err != nil {
			t.Fatal(err)
		}
		if after := sumOfPart(t, "tiny-imagenet-32", dir); after == before {
			t.Error("behind a link a missing image is not noticed")
		}
	})
}
