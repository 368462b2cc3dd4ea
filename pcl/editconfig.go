package pcl

import "github.com/parallelcl/parallelcl/pcl/internal/device"

// Edit describes memory editing (docs/method.md §3): after each update, the memory's samples that
// took part in the step are changed themselves, by a gradient step on φ(x) = ‖∇ℓ(x) − D‖². Here x
// are a sample's pixels and D = Σ λᵢ∇ℓᵢ is the direction of the update; both gradients are taken
// over the backbone's parameters. The zero value turns editing off. An empty field of Mode, Norm,
// Direction, Target or At stands for its first choice.
type Edit struct {
	Eta       float64 `json:"eta,omitempty" param:"eta" flag:"edit" default:"0" range:"[0,inf)" doc:"step size η of memory editing (docs/method.md §3), in units in which pixels lie in [0,1]; 0 turns editing off"`
	Mode      string  `json:"mode,omitempty" param:"mode" default:"batch" choices:"batch,per_sample" doc:"the loss whose gradient an edit moves: that of the batch or of each sample"`
	Norm      string  `json:"norm,omitempty" param:"norm" default:"rms" choices:"rms,l2,raw" doc:"how a sample's edit gradient is normalised"`
	Direction string  `json:"aim,omitempty" param:"aim" default:"toward" choices:"toward,literal,ascend" doc:"where edits lead: to the step's direction D, as the paper's Eq. 12 is printed, or away from D"`
	Target    string  `json:"target,omitempty" param:"target" default:"d" choices:"d,mean" doc:"what edits aim at: D, or D/|Σλ|"`
	At        string  `json:"at,omitempty" param:"at" default:"pre" choices:"pre,post" doc:"whether edits use the parameters before or after the update"`
	Every     int     `json:"every,omitempty" param:"every" default:"1" range:"whole [1,inf)" doc:"edit in every so many steps"`
	MaxDrift  float64 `json:"max_drift,omitempty" param:"max_drift" default:"0" range:"[0,inf)" doc:"largest change of a pixel from its original, ‖x − x_original‖∞; 0 means no limit"`
	Unclamped bool    `json:"unclamped,omitempty" param:"unclamped" default:"false" doc:"allow pixels outside [0,1]"`
}

// where returns where edits are computed at the present parameters. Single samples have no
// statistics of their own.
func (e Edit) where(now device.At) device.At {
	if e.Mode != "per_sample" {
		now.Running = nil
	}
	return now
}
