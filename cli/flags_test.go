package cli

import (
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestHelp: the help of pcl run shows what is often needed, --help-all every flag, and shells
// complete all of them.
func TestHelp(t *testing.T) {
	flags := func(arg string) []string {
		out := must.Get(exec.Command("pcl", "run", arg).Output())(t)
		return regexp.MustCompile(`(?m)^  (?:-\w, |    )--([\w-]+)`).FindAllString(string(out), -1)
	}
	k := must.Get(kong.Must(newCommands(), pathType, stdoutType).Parse([]string{"run"}))(t)
	short, all := flags("--help"), flags("--help-all")
	if len(short) > 30 || len(short) < 20 {
		t.Errorf("--help shows %d flags; want at most 30", len(short))
	}
	known := slices.DeleteFunc(k.Flags(), func(f *kong.Flag) bool { return f.Hidden }) // without those of earlier versions
	if len(all) != len(known) {
		t.Errorf("--help-all shows %d flags of %d", len(all), len(known))
	}
}
