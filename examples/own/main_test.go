package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// TestMain makes the test binary be this command where it is called so, on PATH.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"own": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true})
}

// TestGuide runs the commands of docs/own.md, with few images and in pure Go.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/own.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := photos(filepath.Join(dir, "PATH")); err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?m)^    go run \./examples/own ([^#\n]+)`).FindAllSubmatch(text, -1)
	if len(shown) < 3 {
		t.Fatalf("the guide shows %d commands", len(shown))
	}
	for _, s := range shown {
		args := strings.Fields(string(s[1]))
		if args[0] == "run" {
			args = append(args, "--quiet", "--backend", "go", "--train-per-class", "3", "--width", "4")
		}
		own := exec.Command("own", args...)
		own.Dir = dir
		if out, err := own.CombinedOutput(); err != nil || !strings.Contains(string(out), "same-length") {
			t.Errorf("own %v: %v\n%s", args, expect.Text(err), out)
		}
	}
}

// photos writes a folder of images of four classes: stripes of different widths.
func photos(dir string) error {
	for class, name := range []string{"cat", "dog", "fox", "owl"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			return err
		}
		for i := range 20 {
			img := image.NewRGBA(image.Rect(0, 0, 20, 16))
			for p := range 20 * 16 {
				x, y := p%20, p/20
				img.Set(x, y, color.RGBA{uint8((x + i) / (class + 1) % 2 * 200), uint8(y * 9), uint8(i * 7), 255})
			}
			f, err := os.Create(filepath.Join(dir, name, fmt.Sprintf("%d.png", i)))
			if err != nil {
				return err
			}
			if err := png.Encode(f, img); err != nil {
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}
