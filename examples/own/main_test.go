package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary be this command where it is called so, on PATH.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"own": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true})
}
