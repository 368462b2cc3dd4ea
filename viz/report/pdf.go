package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/tempdir"
)

// browsers are the programs that can print a page, by name or place.
var browsers = []string{
	"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge", "msedge",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
}

// FindBrowser finds Chromium or a related browser.
func FindBrowser() (string, error) {
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "",
		errors.New("report: a PDF is printed by Chromium or Chrome, and none is on PATH: install one, or print the page " +
			"from any browser")
}

// PDF prints a page to a file.
func PDF(ctx context.Context, browser, page, file string) error {
	temp, err := tempdir.Make("pcl-report-") // for the profile, and the PDF until it is complete
	if err != nil {
		return err
	}
	defer temp.Remove()
	temporary := temp.Path
	if page, err = filepath.Abs(page); err != nil {
		return err
	}
	printed := filepath.Join(temporary, "page.pdf")
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(page)}
	args := []string{
		"--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-extensions", "--no-pdf-header-footer", "--virtual-time-budget=5000", // for the page's script
		"--user-data-dir=" + temporary, "--print-to-pdf=" + printed, address.String(),
	}
	if os.Geteuid() == 0 { // its sandbox refuses root; the page may load nothing
		args = append([]string{"--no-sandbox"}, args...)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, args...)
	cmd.WaitDelay = 5 * time.Second
	said, err := cmd.CombinedOutput()
	data, missing := os.ReadFile(printed)
	if err := errors.Join(err, missing); err != nil {
		return fmt.Errorf("report: %s did not print %s: %w\n%s", browser, page, err,
			bytes.TrimSpace(said[max(0, len(said)-1000):]))
	}
	return atomicfile.WriteBytes(file, data)
}
