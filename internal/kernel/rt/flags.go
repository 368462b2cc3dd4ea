package rt

import (
	"flag"
	"os"
)

// ParseFlags parses the arguments of the program, where GoNB's main begins.
func ParseFlags() { NoError(flag.CommandLine.Parse(os.Args[1:])) }

// ForgetFlag removes a flag, so that it can be declared again.
func ForgetFlag(name string) {
	if flag.Lookup(name) == nil {
		return
	}
	old := flag.CommandLine
	flag.CommandLine = flag.NewFlagSet(os.Args[0], flag.ContinueOnError)
	old.VisitAll(func(f *flag.Flag) {
		if f.Name != name {
			flag.CommandLine.Var(f.Value, f.Name, f.Usage)
		}
	})
}
