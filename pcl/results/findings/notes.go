package findings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// notesFile has sentences about tables of the paper, by their names: "Table 3" = "…".
const notesFile = "notes.toml"

// ReadNotes reads the notes of a folder of results, such as why a table is missing. A file, or a folder without notes,
// has none.
func ReadNotes(dir string) (map[string]string, error) {
	path := filepath.Join(dir, notesFile)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	notes := map[string]string{}
	if err := toml.Unmarshal(data, &notes); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for name := range notes {
		if !slices.Contains(paperTables, name) {
			return nil, fmt.Errorf("%s: %q is none of %s", path, name, strings.Join(paperTables, ", "))
		}
	}
	return notes, nil
}
