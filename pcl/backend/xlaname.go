//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// names are the paths under which the binding has loaded plugins. It looks a plugin up by its path before it
// looks at the file, so a link is needed only until the plugin is loaded.
var names = map[string]string{}

// bindingName is the path under which the XLA binding gets a plugin. The binding takes a plugin to be for
// CUDA, or for the CPU, if these words are anywhere in its path, even in the name of a home folder, and it
// cuts the path at a comma. If the real path is misleading, a link with a plain path is used.
func bindingName(kind, plugin string) (string, error) {
	if saysKind(plugin, kind) {
		return plugin, nil
	}
	if name, ok := names[kind+plugin]; ok {
		return name, nil
	}
	for _, root := range []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"} {
		if link, err := linkUnder(root, kind, plugin); err == nil {
			return link, nil
		}
	}
	return "", fmt.Errorf("the path of plugin %s makes it look like another platform's, and no folder for a link was found: move it to a path without the words cpu, cuda and nvidia and without commas", plugin)
}

// saysKind reports whether the binding would recognise the plugin's kind from its path.
func saysKind(path, kind string) bool {
	p := strings.ToLower(path)
	cuda := strings.Contains(p, "cuda") || strings.Contains(p, "nvidia")
	cpu := strings.Contains(p, "cpu")
	return cuda == (kind == XLACUDA) && cpu == (kind == XLACPU) && !strings.Contains(p, ",")
}

// linkUnder makes a link to the plugin in a new folder of root.
func linkUnder(root, kind, plugin string) (string, error) {
	dir, err := os.MkdirTemp(root, "parallelcl-")
	if err != nil {
		return "", err
	}
	link := filepath.Join(dir, strings.TrimPrefix(kind, "xla-")+".so")
	if !saysKind(link, kind) {
		os.Remove(dir)
		return "", fmt.Errorf("%s misleads too", root)
	}
	if err := os.Symlink(plugin, link); err != nil {
		os.Remove(dir)
		return "", err
	}
	return link, nil
}
