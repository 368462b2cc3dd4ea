package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// gonb is the path of GoNB's module. GoNB is the program that runs Go cells for Jupyter.
const gonb = "github.com/janpfeifer/gonb"

// mend is one change to the source of GoNB: old is what the pinned version contains exactly once, and new is what replaces
// it. If old is empty, new is a file to be added. docs/gonb.md says for each fault how to see it.
type mend struct{ file, old, new string }

var mends = []mend{
	{ // GoNB looks for gopls only after 12 s, so a kernel's first completion comes that late.
		"internal/goexec/goplsclient/conn.go",
		"	ConnectTimeout       = 12000 * time.Millisecond\n",
		"	ConnectTimeout       = 12000 * time.Millisecond\n	pollEvery            = 50 * time.Millisecond\n",
	},
	{
		"internal/goexec/goplsclient/exec.go",
		"			case <-time.After(ConnectTimeout):\n",
		"			case <-time.After(pollEvery):\n",
	},
	{
		"internal/goexec/goplsclient/exec.go",
		"		<-time.After(ConnectTimeout)\n",
		"		<-time.After(pollEvery)\n",
	},
	{ // gopls runs all its analyses on the whole program, which nobody sees, and uses more than a gigabyte of memory.
		"internal/goexec/goplsclient/conn.go",
		"	callId, err := c.jsonConn.Call(ctx, lsp.MethodInitialize, &lsp.InitializeParams{\n",
		"	callId, err := c.jsonConn.Call(ctx, lsp.MethodInitialize, &lsp.InitializeParams{\n		InitializationOptions: map[string]any{\"diagnosticsDelay\": \"8760h\"},\n",
	},
	{ // gopls reads packages when it is first asked something, so it is asked before the user needs an answer.
		"internal/goexec/goplsclient/exec.go",
		"				c.waitConnecting = false\n				return\n",
		"				c.waitConnecting = false\n				_, _ = c.CallComplete(ctx, c.dir+\"/main.go\", 0, 0)\n				return\n",
	},
	{ // A cell with statements but without %% gets a main function, or an explanation; see the shim's impliedMain.
		"internal/goexec/parser.go",
		`	if err != nil {
		if msg != nil {
			err = s.DisplayErrorWithContext(msg, fileToCellIdAndLine, err.Error(), err)
		}
`,
		`	if err != nil {
		why, mainErr := exec.Command("goimports", "-main", s.CodePath()).Output()
		if mainErr == nil {
			pi.fileSet = token.NewFileSet()
			packages, err = parser.ParseDir(pi.fileSet, s.TempDir, func(info fs.FileInfo) bool {
				return info.Name() == path.Base(s.CodePath())
			}, parser.SkipObjectResolution|parser.ParseComments)
		} else if len(why) > 0 {
			err = errors.New(strings.TrimSpace(string(why)))
		}
	}
	if err != nil {
		if msg != nil {
			err = s.DisplayErrorWithContext(msg, fileToCellIdAndLine, err.Error(), err)
		}
`,
	},
	{
		"internal/goexec/parser.go",
		"	\"os\"\n	\"regexp\"\n",
		"	\"os\"\n	\"os/exec\"\n	\"path\"\n	\"regexp\"\n",
	},
	{ // A cursor at the end of a declaration belongs to that declaration, because this is where people type.
		"internal/goexec/parser.go",
		"			if lineNum == toPos.Line && col >= toPos.Column-1 {\n",
		"			if lineNum == toPos.Line && col > toPos.Column-1 {\n",
	},
	{ // A cell that does not parse yet gets no imports, and so gopls knows nothing of its types.
		"internal/goexec/inspect.go",
		`		klog.V(2).Infof("Ignoring ParseError for auto-complete: %+v", err)
		err = nil
		// Render memorized definitions on a side file, so ` + "`gopls`" + ` can pick those definitions if needed for
		// auto-complete.
		err = s.createAlternativeFileFromDecls(s.Definitions)
`,
		`		err = s.createAlternativeFileFromDecls(s.Definitions)
		_ = exec.Command("goimports", "-w", s.CodePath()).Run()
`,
	},
	{
		"internal/goexec/inspect.go",
		`		klog.V(2).Infof("Ignoring parse err for InspectRequest: %+v", err)
		err = nil
		// Render memorized definitions on a side file, so ` + "`gopls`" + ` can pick those definitions if needed for
		// auto-complete.
		err = s.createAlternativeFileFromDecls(s.Definitions)
`,
		`		err = s.createAlternativeFileFromDecls(s.Definitions)
		_ = exec.Command("goimports", "-w", s.CodePath()).Run()
`,
	},
	{
		"internal/goexec/inspect.go",
		"	\"os\"\n	\"path\"\n",
		"	\"os\"\n	\"os/exec\"\n	\"path\"\n",
	},
	{ // A completion must not download anything.
		"internal/goexec/execcode.go",
		"	if !s.AutoGet {\n",
		"	if !s.AutoGet || msg == nil {\n",
	},
	{ // The output of the go command is shown by itself, without the path of the command and its exit status.
		"internal/goexec/execcode.go",
		"		strOutput := fmt.Sprintf(\"%v\\n\\n%s\", err, output)\n",
		"		strOutput := strings.TrimSpace(string(output))\n",
	},
	{ // A kernel that is killed leaves the program of its cell running. On Linux, the system can end that too.
		"internal/jpyexec/jpyexec.go",
		"	cmd.Dir = exec.dir\n",
		"	cmd.Dir = exec.dir\n	cmd.SysProcAttr = endsWithKernel()\n",
	},
	{
		"internal/jpyexec/ends_linux.go", "",
		"package jpyexec\n\nimport \"syscall\"\n\nfunc endsWithKernel() *syscall.SysProcAttr {\n	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}\n}\n",
	},
	{
		"internal/jpyexec/ends_other.go", "",
		"//go:build !linux\n\npackage jpyexec\n\nimport \"syscall\"\n\nfunc endsWithKernel() *syscall.SysProcAttr { return nil }\n",
	},
	{ // The exit status of a cell is shown only once, by Jupyter, and stopping a cell is not an error of the cell.
		"internal/jpyexec/jpyexec.go",
		"	if exec.exitError != nil {\n		errMsg",
		"	if exec.exitError != nil && !exec.useNamedPipes {\n		errMsg",
	},
	{
		"internal/goexec/execcode.go",
		"	if exitErr := jpyExec.ExitError(); exitErr != nil {\n",
		`	if exitErr := jpyExec.ExitError(); exitErr == nil && msg.Kernel().Interrupted.Load() {
		_ = kernel.PublishWriteStream(msg, kernel.StreamStderr, errStopped.Error()+"\n")
	} else if exitErr != nil {
		if msg.Kernel().Interrupted.Load() {
			return errStopped
		}
`,
	},
	{ // Stopping a cell while it is built, or while a package is downloaded, has no effect, and the cell runs.
		"internal/goexec/execcode.go",
		"	output, err := cmd.CombinedOutput()\n	if err != nil {\n		klog.Errorf(\"Failed",
		"	output, err := stoppable(msg, cmd)\n	if err == errStopped {\n		return err\n	}\n	if err != nil {\n		klog.Errorf(\"Failed",
	},
	{
		"internal/goexec/execcode.go",
		"	output, err = cmd.CombinedOutput()\n	if err != nil {\n		err = errors.Wrapf(err, \"failed to run %q\", cmd.String())\n		strOutput",
		"	output, err = stoppable(msg, cmd)\n	if err == errStopped {\n		return\n	}\n	if err != nil {\n		err = errors.Wrapf(err, \"failed to run %q\", cmd.String())\n		strOutput",
	},
	{"internal/goexec/stoppable.go", "", stoppable},
	{
		"internal/dispatcher/dispatcher.go",
		"			msg.Kernel().CallInterruptSubscribers()\n			replyContent",
		"			msg.Kernel().Interrupted.Store(true)\n			msg.Kernel().CallInterruptSubscribers()\n			replyContent",
	},
	{ // Without this, the code in exported notebooks is coloured as Python.
		"internal/kernel/messages.go",
		"				MIMEType:      \"text/x-go\",\n",
		"				MIMEType:      \"text/x-go\",\n				PygmentsLexer: \"go\",\n",
	},
}

// stoppable is the text of a file that is added to GoNB's package goexec. It runs the go command in a process group of its
// own, because the go command starts other processes.
const stoppable = `package goexec

import (
	"bytes"
	"os/exec"
	"syscall"

	"github.com/janpfeifer/gonb/internal/kernel"
	"github.com/pkg/errors"
)

// errStopped is the error of a cell that was stopped.
var errStopped = errors.New("Stopped. Run the cell again to go on.")

// stoppable runs a command of the cell in msg and returns its output. The stop button ends it, with errStopped.
func stoppable(msg kernel.Message, cmd *exec.Cmd) ([]byte, error) {
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func(kernel.SubscriptionId) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	id := msg.Kernel().SubscribeInterrupt(stop)
	if msg.Kernel().Interrupted.Load() { // before the subscription
		stop(id)
	}
	err := cmd.Wait()
	msg.Kernel().UnsubscribeInterrupt(id)
	if msg.Kernel().Interrupted.Load() {
		err = errStopped
	}
	return output.Bytes(), err
}
`

// mendedGoNB writes the source of GoNB, with our changes, to a folder.
func mendedGoNB(ctx context.Context, o Options, pins, dir string) error {
	out, err := run(ctx, pins, goEnv(), o.Go, "mod", "download", "-json", gonb)
	if err != nil {
		return err
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil || m.Dir == "" {
		return fmt.Errorf("download %s: no folder in %q", gonb, out)
	}
	if err := copyModule(m.Dir, dir, notGoNB); err != nil {
		return err
	}
	return applyMends(dir)
}

// notGoNB reports whether GoNB can be built without a folder of its module.
func notGoNB(rel string) bool {
	return rel == "examples" || rel == "docs" || rel == "binder" || filepath.Base(rel) == "testdata"
}

// applyMends makes our changes to the source in a folder.
func applyMends(dir string) error {
	for _, m := range mends {
		file := filepath.Join(dir, filepath.FromSlash(m.file))
		if m.old == "" {
			if err := os.WriteFile(file, []byte(m.new), 0o666); err != nil {
				return err
			}
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if n := strings.Count(string(text), m.old); n != 1 {
			return fmt.Errorf("GoNB's %s has what is to be mended %d times, not once:\n%s", m.file, n, m.old)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o666); err != nil {
			return err
		}
	}
	return nil
}
