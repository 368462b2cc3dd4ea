//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// names are the paths under which the binding has loaded plugins. It looks a plugin up by its path
// before it looks at the file, so that a link need not outlive the loading.
var names = map[string]string{}

// bindingName is the path under which the XLA binding gets a plugin. The binding takes a plugin
// for CUDA, or for the CPU, by these words anywhere in its path, and cuts the path at a comma; a
// home folder called "nvidia" would do. Where the real path misleads, a link with a plain one serves.
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

// saysKind reports whether the binding would recognise a path as what it is.
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
