package backend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// DefaultCacheDir is the folder that [Options].CacheDir stands for when it is empty.
func DefaultCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no user cache folder: %w", err)
	}
	return filepath.Join(dir, "parallelcl"), nil
}

var errNoCacheDir = errors.New("no cache folder to install its plugin into: set HOME or XDG_CACHE_HOME")

// pluginDir is where the plugins of a cache folder live.
func pluginDir(cacheDir string) string { return filepath.Join(cacheDir, "plugins") }

// pluginKind guesses from the last parts of a plugin's path what it is for. The rest of the path was chosen
// by the user and means nothing.
func pluginKind(path string) string {
	dir, file := filepath.Split(path)
	tail := strings.ToLower(filepath.Join(filepath.Base(dir), file))
	if strings.Contains(tail, "cuda") || strings.Contains(tail, "nvidia") {
		return XLACUDA
	}
	return XLACPU
}
