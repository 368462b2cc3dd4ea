// Package pjrtenv keeps the XLA binding from logging when the program starts. The binding collects the
// folders that may have plugins in its initialisation, although here plugins are loaded by their full
// path, and writes raw log lines to the terminal where there is no HOME or no /etc/ld.so.conf.
//
// It imports nothing but what the binding's log package imports too, and its path comes before that
// one's: by the language's order it is initialised before the binding.
package pjrtenv

import (
	"os"
	"strings"
)

const variable = "PJRT_PLUGIN_LIBRARY_PATH"

var set bool

// init names the folders itself where the search would complain.
func init() {
	_, given := os.LookupEnv(variable)
	if given || searchable() {
		return
	}
	folders := []string{"/usr/local/lib/go-xla", "/usr/local/lib/go-xla/nvidia", "/usr/local/lib/gomlx/pjrt"}
	for _, dir := range strings.Split(os.Getenv("LD_LIBRARY_PATH"), ":") {
		if strings.HasPrefix(dir, "/") {
			folders = append(folders, dir)
		}
	}
	set = os.Setenv(variable, strings.Join(folders, ":")) == nil
}

func searchable() bool {
	if _, err := os.UserHomeDir(); err != nil {
		return false
	}
	f, err := os.Open("/etc/ld.so.conf")
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// Restore leaves the environment as it was, once the binding has been initialised: programs that this
// one starts may search for themselves.
func Restore() {
	if set {
		os.Unsetenv(variable)
	}
}
