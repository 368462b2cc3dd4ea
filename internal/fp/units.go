package fp

// unit maps a byte b to b/255, a value in [0,1].
var unit = func() (table [256]float32) {
	for i := range table {
		table[i] = float32(i) / 255
	}
	return table
}()

// Units maps each byte to the entry of x in its place, as [unit] does. x may be longer.
func Units(x []float32, bytes []uint8) {
	done := 0
	if inEights && len(bytes) >= 8 {
		done = len(bytes) &^ 7
		units8(done, &x[:done][0], &bytes[0])
	}
	for i, b := range bytes[done:] {
		x[done+i] = unit[b]
	}
}
