package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// completionCmd prints the lines by which a shell asks this program how a command line may go on, which kongplete answers.
type completionCmd struct {
	Shell string `arg:"" optional:"" help:"bash, zsh or fish (default: the one that $$SHELL names)."`
}

func (c *completionCmd) Run(rc *runContext) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if c.Shell == "" && os.Getenv("SHELL") == "" {
		return usagef("SHELL does not name your shell: name it, such as pcl completion bash")
	}
	lines, err := completionLines(cmp.Or(c.Shell, filepath.Base(os.Getenv("SHELL"))), program)
	if err != nil {
		return usageError{err}
	}
	_, err = fmt.Fprint(rc.stdout, lines)
	return err
}

// completionLines returns the lines for a shell's start-up file.
func completionLines(shell, program string) (string, error) {
	command := quotedName(program)
	complete := "complete -C " + quotedName(command) + " pcl\n" // quoted twice: the shell runs what is quoted as a command
	switch shell {
	case "bash":
		return complete, nil
	case "zsh":
		return "autoload -U +X bashcompinit && bashcompinit\n" + complete, nil
	case "fish":
		return strings.ReplaceAll(fishCompletion, "COMMAND", command), nil
	}
	return "", fmt.Errorf("shell %q; want bash, zsh or fish, as in pcl completion bash", shell)
}

const fishCompletion = `function __complete_pcl
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    COMMAND
end
complete -f -c pcl -a "(__complete_pcl)"
`
