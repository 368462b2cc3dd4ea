package fp

// Finite says whether no entry is NaN or infinite.
func Finite[T float32 | float64](v []T) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}
