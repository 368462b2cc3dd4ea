package cli

import "github.com/alecthomas/kong"

// shortHelp leaves out the flags with the tag rare. They are not hidden from [kong], so that shells complete them.
func shortHelp(o kong.HelpOptions, k *kong.Context) error {
	for _, flag := range k.Flags() {
		flag.Hidden = flag.Hidden || flag.Tag.Has("rare")
	}
	return kong.DefaultHelpPrinter(o, k)
}

// helpAll is the flag that shows the help with all flags.
type helpAll bool

// BeforeReset is called by the parser when it has read the flag.
func (helpAll) BeforeReset(k *kong.Context) error {
	err := kong.DefaultHelpPrinter(kong.HelpOptions{Compact: true, ValueFormatter: kong.DefaultHelpValueFormatter}, k)
	if err == nil {
		k.Exit(0)
	}
	return err
}
