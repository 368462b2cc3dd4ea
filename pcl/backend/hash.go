package backend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/internal/ctxio"
)

// errDamaged is matched by the error about a plugin that is not what was installed.
var errDamaged = errors.New("the plugin is damaged")

// checkSHA256 returns errDamaged unless a plugin's file has the SHA-256 want. The dynamic loader would run
// whatever is in the file, or crash. The check costs a quarter of a second for 259 MB at each start; a
// flipped bit changes neither size nor time of the file, so nothing cheaper would find it.
func checkSHA256(ctx context.Context, file, want string) error {
	sum, err := loadedSHA256(ctx, file)
	if err != nil {
		return err
	}
	if sum != want {
		return fmt.Errorf("%w: %s has SHA-256 %.12s…, not %.12s…", errDamaged, file, sum, want)
	}
	return nil
}

// hashed remembers what this process has read: a plugin that is loaded stays loaded.
var hashed sync.Map // hashedFile → SHA-256

type hashedFile struct {
	path     string
	size     int64
	modified time.Time
}

// loadedSHA256 is [fileSHA256], once per process and file.
func loadedSHA256(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	key := hashedFile{path, info.Size(), info.ModTime()}
	if sum, ok := hashed.Load(key); ok {
		return sum.(string), nil
	}
	sum, err := fileSHA256(ctx, path)
	if err == nil {
		hashed.Store(key, sum)
	}
	return sum, err
}

// fileSHA256 is the hexadecimal SHA-256 of a file.
func fileSHA256(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.CopyBuffer(hash, ctxio.Reader(ctx, f), make([]byte, 1<<18)); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
