//go:build cgo && linux && (amd64 || arm64)

package backend

/*
#include <pthread.h>
#include <signal.h>

// block_signals blocks the signals of this thread, except those of its own faults, and keeps in old what was blocked before.
static void block_signals(sigset_t *old) {
	sigset_t all;
	sigfillset(&all);
	const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
	for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_BLOCK, &all, old);
}

static void restore_signals(const sigset_t *old) { pthread_sigmask(SIG_SETMASK, old, NULL); }
*/
import "C"

import "runtime"

// withoutSignals calls start on a thread that blocks signals, so that the threads that it begins
// block them too. The product of matrices in oneDNN before April 2026 points the stack pointer into
// the heap, and a signal that reaches such a thread then overwrites the heap
// (https://github.com/uxlfoundation/oneDNN/issues/4845). Go's profiler sends them many. The threads
// of Go itself are safe: they handle signals on a stack of their own.
func withoutSignals(start func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var old C.sigset_t
	C.block_signals(&old)
	defer C.restore_signals(&old)
	start()
}
