package paper

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"

	"github.com/parallelcl/parallelcl/internal/regular"
)

// notesFile has sentences about tables of the paper, by their names: "Table 3" = "…".
const notesFile = "notes.toml"

// readNotes reads the notes of folders of results. A file, or a folder without notes, has none.
func readNotes(dirs []string) (map[string]string, error) {
	notes := map[string]string{}
	for _, dir := range dirs {
		path := filepath.Join(dir, notesFile)
		data, err := regular.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err == nil {
			err = toml.Unmarshal(data, &notes)
		}
		for name := range notes {
			if err == nil && !slices.Contains(paperTables, name) {
				err = fmt.Errorf("%q is none of %s", name, strings.Join(paperTables, ", "))
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return notes, nil
}
