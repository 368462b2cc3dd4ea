package model

// Model is a backbone with one linear classifier.
type Model interface {
	// Key names the architecture: models of equal Key build the same graphs.
	Key() string
	// Layout describes the flat parameter vector.
	Layout() *Layout
	// Inputs is the number of entries of one sample, Outputs that of its logits.
	Inputs() int
	Outputs() int
	// Forward maps samples x [B, Inputs] to features [B, F] and logits [B, Outputs].
	Forward(params []Dual, x Dual) (features, logits Dual)
}
