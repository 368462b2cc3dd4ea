package results

import (
	"bytes"
	"encoding/json"
	"strings"
)

// withoutFolders returns a run with the name of its data set as it may be shown to others:
// "folder:photos?size=32x32" for "folder:/home/me/photos?size=32x32". The ID stays that of the run
// as it was made.
func withoutFolders(r *Run) (*Run, error) {
	kind, path, own := strings.Cut(r.Dataset, ":")
	end := strings.LastIndexByte(path, '?')
	if end < 0 {
		end = len(path)
	}
	folders := 1 + strings.LastIndexAny(strings.TrimRight(path[:end], `/\`), `/\`)
	if !own || folders == 0 {
		return r, nil
	}
	out := *r
	out.Dataset = kind + ":" + path[folders:]
	long, err := json.Marshal(r.Dataset)
	if err != nil {
		return nil, err
	}
	short, err := json.Marshal(out.Dataset)
	out.Config = bytes.ReplaceAll(r.Config, long, short) // the configuration has it, and a scenario in that
	return &out, err
}
