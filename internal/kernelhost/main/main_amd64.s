// The program of the cells is made of this and of Go that internal/kernel/build writes. Plugins of
// cells call the runtime's function when they are loaded, so the program must have it.

TEXT ·addmoduledata(SB),4,$0-0
	JMP runtime·addmoduledata(SB)
