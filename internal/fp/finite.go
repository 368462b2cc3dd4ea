package fp

// Finite says whether no entry is NaN or infinite.
func Finite(v []float32) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}
