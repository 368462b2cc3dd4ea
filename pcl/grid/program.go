package grid

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

var release = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// ThisProgram returns what tells this program from others that may compute something else: its version if it was
// built from a release, or else the commit. If the build has recorded neither, or the files differed from the
// commit, or it is a program of another module, it is a hash of the program itself.
var ThisProgram = sync.OnceValues(func() (string, error) {
	version, commit := experiment.Version()
	switch {
	case release.MatchString(version):
		return version, nil
	case commit != "unknown" && !strings.HasSuffix(commit, "+changes") && !strings.Contains(version, "@"):
		return "commit-" + commit, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("grid: which program is this? %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("grid: which program is this? %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("grid: which program is this? %w", err)
	}
	return fmt.Sprintf("build-%x", sum.Sum(nil)[:8]), nil
})
