//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// patience is how long GoNB may take to connect.
const patience = time.Minute

// gopls serves GoNB on the socket that GoNB names, and ends with it. GoNB ends gopls only where it has the time to: killed,
// it would leave hundreds of megabytes behind, for gopls -listen waits for the next to connect. So this program waits for
// GoNB, and becomes a gopls that has nothing but this one connection: its standard input ends when GoNB does. Where the
// system can, it ends gopls at once, whatever gopls is doing.
func (c *config) gopls(args []string) int {
	if len(args) != 2 || args[0] != "-listen" {
		return become(c.tool("gopls"), args...)
	}
	runtime.LockOSThread() // what dieWithParent sets belongs to a thread
	dieWithParent()
	conn, err := accept(strings.TrimPrefix(args[1], "unix;"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, fd := range []int{0, 1} {
		if err := dup2(int(conn.Fd()), fd); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return become(c.tool("gopls"), "serve")
}

// accept waits for the one connection on a socket. Its file blocks, as a program expects of its standard input.
func accept(path string) (*os.File, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if err := l.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	conn, err := l.AcceptUnix()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	f, err := conn.File()
	if err != nil {
		return nil, err
	}
	return f, syscall.SetNonblock(int(f.Fd()), false)
}
