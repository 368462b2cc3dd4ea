package memory

// Samples are the samples of a store as they were at one time, whatever happens to the store later.
// They can be read like a data set, also while a learner goes on with the store.
type Samples []Item

// Samples returns the samples of the store as they are now.
func (s *Store) Samples() Samples {
	items := make(Samples, s.Len())
	for i := range items {
		items[i] = s.Item(i)
	}
	return items
}

func (s Samples) Len() int { return len(s) }

// Sample copies the pixels of sample i into x and returns its class.
func (s Samples) Sample(i int, x []float32) (class int) {
	copy(x, s[i].Pixels)
	return s[i].Class
}
