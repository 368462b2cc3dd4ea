package model

// Scores says how the scores of the classes are computed from the features and the classifier's
// weights. The zero value stands for logits: weights times features, plus bias. With Cosine, it is
// Sharpness times the cosine of the angle between the features and an output's weights; with
// Frobenius, the weights are divided by the norm of the whole matrix.
type Scores struct {
	Cosine    bool    `json:"cosine,omitempty"`
	Frobenius bool    `json:"frobenius,omitempty"`
	Sharpness float64 `json:"sharpness,omitempty"`
}
