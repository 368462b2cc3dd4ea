package backend

import (
	"context"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkRecord compares a plugin in a site-packages folder with the SHA-256 in the RECORD that its
// package was installed with, by us or by pip. Where there is no record there is nothing to compare.
func checkRecord(ctx context.Context, plugin string) error {
	site := filepath.Join(filepath.Dir(plugin), "..", "..")
	name, err := filepath.Rel(site, plugin)
	if err != nil {
		return nil
	}
	packages, _ := os.ReadDir(site)
	for _, p := range packages {
		if !strings.HasPrefix(p.Name(), "jax") || !strings.HasSuffix(p.Name(), ".dist-info") {
			continue
		}
		if want := recorded(filepath.Join(site, p.Name(), "RECORD"), filepath.ToSlash(name)); want != "" {
			if err := checkSHA256(ctx, plugin, want); err != nil {
				return fmt.Errorf("%w: install its package again, or delete the file", err)
			}
			return nil
		}
	}
	return nil
}

// recorded is the hexadecimal SHA-256 of a file in a RECORD, or "". A line has the file's name, its
// digest as sha256=… in URL-safe base64 without padding, and its size.
func recorded(record, name string) string {
	f, err := os.Open(record)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := csv.NewReader(f)
	lines.FieldsPerRecord = -1
	for {
		fields, err := lines.Read()
		if err != nil {
			return ""
		}
		if len(fields) < 2 || fields[0] != name {
			continue
		}
		digest, ok := strings.CutPrefix(fields[1], "sha256=")
		sum, err := base64.RawURLEncoding.DecodeString(digest)
		if !ok || err != nil {
			return ""
		}
		return hex.EncodeToString(sum)
	}
}
