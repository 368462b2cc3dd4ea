//go:build amd64 && !amd64.v3

package glyphs

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// TestGolden pins the pixels. Other processors fuse multiplications and additions, which may move
// single pixels by one level.
func TestGolden(t *testing.T) {
	train, test := generateT(t, Config{Seed: 42, TrainPerClass: 10, TestPerClass: 5})
	got := fmt.Sprintf("%x", sha256.Sum256(append(train.Pixels, test.Pixels...)))
	const want = "79b91341a67bb1529cc14dcf5358a3d1eff001a753cd9b94a57a881acf4a3bd2"
	if got != want {
		t.Errorf(
			"SHA-256 of the pixels is %s: want %s; a set that changes needs a word in the release notes, since results change with it", got, want)
	}
}
