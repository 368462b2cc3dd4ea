// Package pjrtenv keeps the XLA binding from logging when the program starts. The binding collects
// the folders that may have plugins in its initialisation, although here plugins are loaded by
// their full path, and writes raw log lines to the terminal where there is no HOME or no
// /etc/ld.so.conf.
//
// It imports nothing but what the binding's log package imports too, and its path comes before that
// one's: by the language's order it is initialised before the binding.
package pjrtenv

import "os"

const variable = "PJRT_PLUGIN_LIBRARY_PATH"

var set bool

// init names the usual folders where the search would complain.
func init() {
	_, given := os.LookupEnv(variable)
	_, home := os.UserHomeDir()
	_, loader := os.ReadFile("/etc/ld.so.conf")
	if !given && (home != nil || loader != nil) {
		const usual = "/usr/local/lib/go-xla:/usr/local/lib/go-xla/nvidia:/usr/local/lib/gomlx/pjrt:"
		set = os.Setenv(variable, usual+os.Getenv("LD_LIBRARY_PATH")) == nil
	}
}

// Restore leaves the environment as it was, once the binding has been initialised: programs that
// this one starts may search for themselves.
func Restore() {
	if set {
		os.Unsetenv(variable)
	}
}
