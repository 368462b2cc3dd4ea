package method

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Value describes a method by a struct of its parameters, such as EMGD{Tau: 10}, where [New] takes a name and a
// map. A field with its zero value stands for the default; where 0 is a choice of its own, the field is a pointer
// (new(0.0)).
type Value interface {
	// New builds the method. Values out of range are errors.
	New() (Method, error)
}

// fromFields makes the named method from a struct whose fields are tagged with the names of parameters.
func fromFields(name string, v any) (Method, error) {
	params := map[string]any{}
	fields := reflect.ValueOf(v)
	for i := range fields.NumField() {
		f, param := fields.Field(i), fields.Type().Field(i).Tag.Get("param")
		if f.IsZero() || param == "" {
			continue
		}
		params[param] = reflect.Indirect(f).Interface()
	}
	if e, ok := v.(EMGD); ok && e.AutoTau {
		if e.Tau != 0 {
			return nil, fmt.Errorf("method emgd-gmc: Tau %g and AutoTau exclude each other", e.Tau)
		}
		params["tau"] = "auto"
	}
	if tau, ok := params["tau"].(float64); ok && strings.HasPrefix(name, "emgd") {
		params["tau"] = strconv.FormatFloat(tau, 'g', -1, 64)
	}
	return New(name, params)
}

// AGEM is the method "a-gem", A-GEM.
type AGEM struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v AGEM) New() (Method, error) { return fromFields("a-gem", v) }

// AlignedMTL is the method "aligned-mtl", Aligned-MTL.
type AlignedMTL struct {
	// Scale: the value to which all singular values of J are set: the smallest of them, the median (the lower of two), or the root mean square; one of "min" (also ""), "median", "rmse".
	Scale string `param:"scale"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v AlignedMTL) New() (Method, error) { return fromFields("aligned-mtl", v) }

// AvgGrad is the method "avggrad", AvgGrad.
type AvgGrad struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v AvgGrad) New() (Method, error) { return fromFields("avggrad", v) }

// CAGrad is the method "cagrad", CAGrad.
type CAGrad struct {
	// C: c ≥ 0, radius of the ball around the mean gradient, relative to its length: 0 gives the mean, a large c the direction of MGDA; nil stands for 0.5.
	C *float64 `param:"c"`
	// Divide: what the weights are divided by; published codes use 1 or 1+c^2: one of "1" (also ""), "1+c", "1+c^2".
	Divide string `param:"divide"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v CAGrad) New() (Method, error) { return fromFields("cagrad", v) }

// CappedMGDA is the method "capped-mgda", Capped MGDA.
type CappedMGDA struct {
	// Cap: c in (0, 1], the largest weight: 1 gives MGDA, and 1/K or less the mean; 0 stands for 0.5.
	Cap float64 `param:"cap"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v CappedMGDA) New() (Method, error) { return fromFields("capped-mgda", v) }

// ConFIG is the method "config", ConFIG.
type ConFIG struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v ConFIG) New() (Method, error) { return fromFields("config", v) }

// Constant is the method "constant", Constant.
type Constant struct {
	// Memory: weight of the memory; nil stands for 1.
	Memory *float64 `param:"memory"`
	// Task: weight of every task in training; nil stands for 1.
	Task *float64 `param:"task"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v Constant) New() (Method, error) { return fromFields("constant", v) }

// COSMOS is the method "cosmos", COSMOS.
type COSMOS struct {
	// Lambda: λ ≥ 0, reward for equal losses; the paper takes 0.01 to 8, depending on the data set; nil stands for 1.
	Lambda *float64 `param:"lambda"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v COSMOS) New() (Method, error) { return fromFields("cosmos", v) }

// CRMOGM is the method "cr-mogm", CR-MOGM.
type CRMOGM struct {
	// Method: the method whose weights are smoothed, with its default parameters; "" stands for "mgda".
	Method string `param:"method"`
	// Alpha: α in [0, 1), the share of the previous weights; nil stands for 0.9.
	Alpha *float64 `param:"alpha"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v CRMOGM) New() (Method, error) { return fromFields("cr-mogm", v) }

// DBMTL is the method "db-mtl", DB-MTL.
type DBMTL struct {
	// Beta: β in [0, 1), the share of the past in the moving means; nil stands for 0.9.
	Beta *float64 `param:"beta"`
	// BetaDecay: σ ≥ 0: β becomes β/n^σ in the stream's n-th step.
	BetaDecay float64 `param:"beta_decay"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v DBMTL) New() (Method, error) { return fromFields("db-mtl", v) }

// DERPP is the method "der-pp", DER++.
type DERPP struct {
	// Alpha: α ≥ 0, weight of the squared difference to the stored logits; 0 leaves it out; nil stands for 0.3.
	Alpha *float64 `param:"alpha"`
	// Beta: β ≥ 0, weight of the memory's cross-entropy; 0 leaves it out, which is DER; nil stands for 0.5.
	Beta *float64 `param:"beta"`
	// Draws: whether the two losses are those of one batch or of two independent ones: one of "one", "two" (also "").
	Draws string `param:"draws"`
	// Rows: whether the rule sees the two losses as one memory row or as two: one of "joined" (also ""), "apart".
	Rows string `param:"rows"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v DERPP) New() (Method, error) { return fromFields("der-pp", v) }

// DualProj is the method "dualproj", DualProj.
type DualProj struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v DualProj) New() (Method, error) { return fromFields("dualproj", v) }

// DWA is the method "dwa", DWA.
type DWA struct {
	// Temperature: T > 0, temperature of the softmax; a large T gives equal weights; 0 stands for 2.
	Temperature float64 `param:"temperature"`
	// Momentum: β in [0, 1), share of the past in the moving means, which replace the means over epochs of the original method; 0 compares single steps; nil stands for 0.9.
	Momentum *float64 `param:"momentum"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v DWA) New() (Method, error) { return fromFields("dwa", v) }

// EMGD is the method "emgd-gmc", EMGD (GMC).
type EMGD struct {
	// Tau: softmax temperature τ of the elastic factors, in units of the gradient norm; with math.Inf(1) all are equal; 0 stands for 5.
	Tau float64 `param:"tau"`
	// AutoTau takes the moving mean of the norms for τ.
	AutoTau bool
	// Momentum: ε₁, share of the past in the moving mean of the norms, m ← ε₁m + (1−ε₁)‖J‖; nil stands for 0.9.
	Momentum *float64 `param:"momentum"`
	// Floor: lower bound of every λ: a number, or "release" for 1/(K+1), which gives up the Pareto guarantee; "" stands for "0".
	Floor string `param:"floor"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v EMGD) New() (Method, error) { return fromFields("emgd-gmc", v) }

// EMGDRecommended is the method "emgd", EMGD (recommended): a composition of EMGD with a rehearsal.
type EMGDRecommended struct {
	// Tau: temperature τ of the elastic factors, which are in proportion to ‖J‖^(1/τ); with math.Inf(1) all are equal; 0 stands for 1.5.
	Tau float64 `param:"tau"`
	// Momentum: share of the past in the moving mean of the norms; 0 takes those of the step itself.
	Momentum float64 `param:"momentum"`
	// Floor: lower bound of every λ: a number, or "release" for 1/(K+1), which gives up the Pareto guarantee; "" stands for "0".
	Floor string `param:"floor"`
	// Alpha: α ≥ 0, weight of the squared difference to the stored logits; 0 leaves it out; nil stands for 0.2.
	Alpha *float64 `param:"alpha"`
	// Pool: number of samples of each class of a running task from which those for the memory are chosen, at least 1; never fewer than the memory can take; 0 stands for 500.
	Pool float64 `param:"pool"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v EMGDRecommended) New() (Method, error) { return fromFields("emgd", v) }

// EMGDGS is the method "emgd-gs", EMGD (GS).
type EMGDGS struct {
	// Tau: softmax temperature τ of the elastic factors, in units of a sum of cosines; with math.Inf(1) all are equal; 0 stands for 5.
	Tau float64 `param:"tau"`
	// Floor: lower bound of every λ: a number, or "release" for 1/(K+1), which gives up the Pareto guarantee; "" stands for "0".
	Floor string `param:"floor"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v EMGDGS) New() (Method, error) { return fromFields("emgd-gs", v) }

// EMGDLog is the method "emgd-log", EMGD (log GMC).
type EMGDLog struct {
	// Tau: temperature τ of the elastic factors, which are in proportion to m^(1/τ); with math.Inf(1) all are equal; 0 stands for 1.
	Tau float64 `param:"tau"`
	// Momentum: ε₁, share of the past in the moving mean of the norms, m ← ε₁m + (1−ε₁)‖J‖; nil stands for 0.9.
	Momentum *float64 `param:"momentum"`
	// Floor: lower bound of every λ: a number, or "release" for 1/(K+1), which gives up the Pareto guarantee; "" stands for "0".
	Floor string `param:"floor"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v EMGDLog) New() (Method, error) { return fromFields("emgd-log", v) }

// ER is the method "er", ER.
type ER struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v ER) New() (Method, error) { return fromFields("er", v) }

// ExcessMTL is the method "excess-mtl", ExcessMTL.
type ExcessMTL struct {
	// LR: η ≥ 0, step size of log λ; nil stands for 0.01.
	LR *float64 `param:"lr"`
	// Warmup: number of first steps of a stream whose mean risk is Eᵢ(0), to which later risks are compared; the paper takes three epochs, its code one step; 0 stands for 1.
	Warmup float64 `param:"warmup"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v ExcessMTL) New() (Method, error) { return fromFields("excess-mtl", v) }

// FairGrad is the method "fairgrad", FairGrad.
type FairGrad struct {
	// Alpha: α in [0.1, 10], the kind of fairness: 1 proportional (Nash), large max-min (the direction of MGDA); 0 stands for 1.
	Alpha float64 `param:"alpha"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v FairGrad) New() (Method, error) { return fromFields("fairgrad", v) }

// FAMO is the method "famo", FAMO.
type FAMO struct {
	// LR: step size of ξ, in [0, 1]; nil stands for 0.025.
	LR *float64 `param:"lr"`
	// Decay: weight decay of ξ, in [0, 1]; nil stands for 0.001.
	Decay *float64 `param:"decay"`
	// MinLoss: ℓᵢmin, which is subtracted from a loss: 0, or the stream's smallest loss so far, which needs an eps as large as the noise of the losses; one of "zero" (also ""), "tracked".
	MinLoss string `param:"min_loss"`
	// Eps: ε in [1e-12, 1e3], added to ℓᵢ−ℓᵢmin; 0 stands for 1e-08.
	Eps float64 `param:"eps"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v FAMO) New() (Method, error) { return fromFields("famo", v) }

// GDumb is the method "gdumb", GDumb.
type GDumb struct {
	// Passes: number of passes over the memory before a prediction, at least 1; with a power of two, training ends at the lowest learning rate; 0 stands for 256.
	Passes float64 `param:"passes"`
	// Cutmix: probability in [0, 1] that CutMix mixes the images of a batch; nil stands for 0.5.
	Cutmix *float64 `param:"cutmix"`
	// LR: largest learning rate, in (0, 1e3]; 0 stands for 0.05.
	LR float64 `param:"lr"`
	// MinLR: smallest learning rate, from 0 to lr; nil stands for 0.0005.
	MinLR *float64 `param:"min_lr"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v GDumb) New() (Method, error) { return fromFields("gdumb", v) }

// GEM is the method "gem", GEM.
type GEM struct {
	// Margin: m ≥ 0, smallest weight of a finished task's gradient in a step that conflicts with one of them ("memory strength" in the official code); nil stands for 0.5.
	Margin *float64 `param:"margin"`
	// Eps: ε ≥ 0, added to the diagonal of the dual's matrix, in units of a squared gradient; nil stands for 0.001.
	Eps *float64 `param:"eps"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v GEM) New() (Method, error) { return fromFields("gem", v) }

// GLS is the method "gls", GLS.
type GLS struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v GLS) New() (Method, error) { return fromFields("gls", v) }

// GMED is the method "gmed", GMED.
type GMED struct {
	// Alpha: α ≥ 0, length of an edit as a multiple of the pixel gradient; tune it for each data set (the authors took 0.1 for split MNIST); nil stands for 0.01.
	Alpha *float64 `param:"alpha"`
	// Beta: β ≥ 0, how much an edit also lowers the loss; nil stands for 0.01.
	Beta *float64 `param:"beta"`
	// Decay: number in [0, 1], by what fraction each edit of a sample is shorter than its previous one.
	Decay float64 `param:"decay"`
	// Gamma: γ ≥ 0, length of the virtual step as a multiple of the gradient; nil stands for 0.1.
	Gamma *float64 `param:"gamma"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v GMED) New() (Method, error) { return fromFields("gmed", v) }

// GMEDRelease is the method "gmed-release", GMED (release).
type GMEDRelease struct {
	// Alpha: α ≥ 0, length of an edit as a multiple of the pixel gradient; nil stands for 0.003.
	Alpha *float64 `param:"alpha"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v GMEDRelease) New() (Method, error) { return fromFields("gmed-release", v) }

// GradDrop is the method "graddrop", GradDrop.
type GradDrop struct {
	// Leak: number in [0, 1], the part of every gradient that is always kept: 1 gives the sum.
	Leak float64 `param:"leak"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v GradDrop) New() (Method, error) { return fromFields("graddrop", v) }

// GradNorm is the method "gradnorm", GradNorm.
type GradNorm struct {
	// Alpha: α in [0, 10], how strongly slower streams are favoured; nil stands for 1.5.
	Alpha *float64 `param:"alpha"`
	// LR: η ≥ 0, step size of the weights, one step per iteration; nil stands for 0.025.
	LR *float64 `param:"lr"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v GradNorm) New() (Method, error) { return fromFields("gradnorm", v) }

// GradVac is the method "gradvac", GradVac.
type GradVac struct {
	// Beta: β in [0, 1], how fast the moving means of the cosines change: 0 keeps them at 0, which is PCGrad; nil stands for 0.5.
	Beta *float64 `param:"beta"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v GradVac) New() (Method, error) { return fromFields("gradvac", v) }

// GSS is the method "gss", GSS-Greedy.
type GSS struct {
	// Subsets: n ≥ 1, number of random parts of the memory that a gradient is compared with; 0 stands for 10.
	Subsets float64 `param:"subsets"`
	// SubsetSize: number of samples in each part, from 1 to the batch size; 0 stands for 10.
	SubsetSize float64 `param:"subset_size"`
	// Threshold: cosine in [-1, 1]: only batches whose cosine with the memory is below it may replace samples.
	Threshold float64 `param:"threshold"`
	// ScoreAll: also score samples while the memory is not full, as in the official code, at the cost of a gradient for each.
	ScoreAll bool `param:"score_all"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v GSS) New() (Method, error) { return fromFields("gss", v) }

// ICaRL is the method "icarl", iCaRL.
type ICaRL struct {
	// Pool: number of samples of each class of a running task from which those for the memory are chosen, at least 1; never fewer than the memory can take; 0 stands for 500.
	Pool float64 `param:"pool"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v ICaRL) New() (Method, error) { return fromFields("icarl", v) }

// IMTL is the method "imtl", IMTL.
type IMTL struct {
	// LR: step size of s, in [0, 1]; nil stands for 0.1.
	LR *float64 `param:"lr"`
	// Init: s of a new stream: 0, or −log ℓ, the value at which it would no longer change; one of "zero" (also ""), "loss".
	Init string `param:"init"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v IMTL) New() (Method, error) { return fromFields("imtl", v) }

// IMTLG is the method "imtl-g", IMTL-G.
type IMTLG struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v IMTLG) New() (Method, error) { return fromFields("imtl-g", v) }

// IMTLL is the method "imtl-l", IMTL-L.
type IMTLL struct {
	// LR: step size of s, in [0, 1]; nil stands for 0.1.
	LR *float64 `param:"lr"`
	// Init: s of a new stream: 0, or −log ℓ, the value at which it would no longer change; one of "zero" (also ""), "loss".
	Init string `param:"init"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v IMTLL) New() (Method, error) { return fromFields("imtl-l", v) }

// Krum is the method "krum", Krum.
type Krum struct {
	// Byzantine: f, the number of streams that are not to be trusted; nil stands for 1.
	Byzantine *float64 `param:"byzantine"`
	// Selected: m, the number of streams whose mean is taken: 1 is Krum, more is Multi-Krum; 0 stands for 1.
	Selected float64 `param:"selected"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v Krum) New() (Method, error) { return fromFields("krum", v) }

// MaxDOMinMax is the method "maxdo-minmax", MaxDO (min-max).
type MaxDOMinMax struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v MaxDOMinMax) New() (Method, error) { return fromFields("maxdo-minmax", v) }

// MaxDORelease is the method "maxdo-release", MaxDO (release).
type MaxDORelease struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v MaxDORelease) New() (Method, error) { return fromFields("maxdo-release", v) }

// MDMTR is the method "mdmtr", MDMTR.
type MDMTR struct {
	// ClassMargin: m_c in [0, π], added to the angle of the right class; nil stands for 0.01.
	ClassMargin *float64 `param:"class_margin"`
	// TaskMargin: m_t in [0, π], added to the angles of the classes of the right task; nil stands for 0.01.
	TaskMargin *float64 `param:"task_margin"`
	// Sharpness: s > 0, the factor of the cosines; 0 stands for 20.
	Sharpness float64 `param:"sharpness"`
	// LegacyNorm: divide by the Frobenius norm of the whole classifier instead of the norm of each class's weights, as in the released PCL code.
	LegacyNorm bool `param:"legacy_norm"`
	// Distill: weight of the squared difference to the scores stored when a task ended; 0 leaves it out.
	Distill float64 `param:"distill"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v MDMTR) New() (Method, error) { return fromFields("mdmtr", v) }

// MEGA1 is the method "mega-1", MEGA-I.
type MEGA1 struct {
	// Eps: ε > 0: while the loss of the tasks is below it, only the memory is trained on; 0 stands for 0.001.
	Eps float64 `param:"eps"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v MEGA1) New() (Method, error) { return fromFields("mega-1", v) }

// MEGA2 is the method "mega-2", MEGA-II.
type MEGA2 struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v MEGA2) New() (Method, error) { return fromFields("mega-2", v) }

// MEGARelease is the method "mega-release", MEGA (release).
type MEGARelease struct {
	// Eps: ε > 0: while the loss of the first task is below it, only the tasks are trained on; 0 stands for 0.1.
	Eps float64 `param:"eps"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v MEGARelease) New() (Method, error) { return fromFields("mega-release", v) }

// MGDA is the method "mgda", MGDA.
type MGDA struct {
	// Norm: what each gradient is divided by before the weights are computed: 1, ‖Jᵢ‖, ℓᵢ or ℓᵢ‖Jᵢ‖; one of "none" (also ""), "l2", "loss", "loss+".
	Norm string `param:"norm"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v MGDA) New() (Method, error) { return fromFields("mgda", v) }

// MIR is the method "mir", MIR.
type MIR struct {
	// Candidates: number of candidates for each sample that is replayed, at least 1; 0 stands for 5.
	Candidates float64 `param:"candidates"`
	// Gamma: γ ≥ 0, length of the virtual step as a multiple of the gradient; nil stands for 0.1.
	Gamma *float64 `param:"gamma"`
	// BestLoss: compare the loss after the virtual step with the sample's smallest loss so far.
	BestLoss bool `param:"best_loss"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v MIR) New() (Method, error) { return fromFields("mir", v) }

// MoCo is the method "moco", MoCo.
type MoCo struct {
	// Beta: β in [0, 1], what part of the way to the gradient yᵢ moves; nil stands for 0.5.
	Beta *float64 `param:"beta"`
	// BetaDecay: σ ≥ 0: β becomes β/n^σ in the stream's n-th step. The theory takes 0.5, but yᵢ then lags behind a network that changes.
	BetaDecay float64 `param:"beta_decay"`
	// Gamma: γ ≥ 0, step size of λ; nil stands for 0.1.
	Gamma *float64 `param:"gamma"`
	// GammaDecay: the same for γ, with the n-th step of the newest stream; nil stands for 0.5.
	GammaDecay *float64 `param:"gamma_decay"`
	// Rho: ρ ≥ 0, how strongly λ is pulled towards equal weights.
	Rho float64 `param:"rho"`
	// Norm: follow Jᵢ as in the paper, or ℓᵢJᵢ/‖Jᵢ‖ as in the authors' code: one of "none" (also ""), "loss".
	Norm string `param:"norm"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v MoCo) New() (Method, error) { return fromFields("moco", v) }

// MoDo is the method "modo", MoDo.
type MoDo struct {
	// Gamma: γ ≥ 0, step size of λ; nil stands for 0.001.
	Gamma *float64 `param:"gamma"`
	// Rho: ρ ≥ 0, how strongly λ is pulled towards equal weights; nil stands for 0.1.
	Rho *float64 `param:"rho"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v MoDo) New() (Method, error) { return fromFields("modo", v) }

// NashMTL is the method "nash-mtl", Nash-MTL.
type NashMTL struct {
	// MaxNorm: largest ‖d‖; a longer d is scaled down to it, and "inf" means no limit. Without a limit, ‖d‖ is always √K; 0 stands for 1.
	MaxNorm float64 `param:"max_norm"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v NashMTL) New() (Method, error) { return fromFields("nash-mtl", v) }

// PBI is the method "pbi", PBI.
type PBI struct {
	// Theta: θ ≥ 0, penalty on unequal losses; nil stands for 5.
	Theta *float64 `param:"theta"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v PBI) New() (Method, error) { return fromFields("pbi", v) }

// PCD is the method "pcd", PCD.
type PCD struct {
	// Tau: τ in [0, 1], how much progress every other stream gets, relative to a step along its own gradient; nil stands for 0.02.
	Tau *float64 `param:"tau"`
	// Beta: β in [0, 1), share of the past in the moving means of ‖Jᵢ‖²; nil stands for 0.999.
	Beta *float64 `param:"beta"`
	// Primary: the primary stream: first is the memory or, without one, the oldest task; last is the newest task; one of "first" (also ""), "last".
	Primary string `param:"primary"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v PCD) New() (Method, error) { return fromFields("pcd", v) }

// PCGrad is the method "pcgrad", PCGrad.
type PCGrad struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v PCGrad) New() (Method, error) { return fromFields("pcgrad", v) }

// POCL is the method "pocl", POCL (plain gradients).
type POCL struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v POCL) New() (Method, error) { return fromFields("pocl", v) }

// RLW is the method "rlw", RLW.
type RLW struct {
	// Distribution: distribution of z: N(0,1), or U[0,1) as in the released PCL code; one of "normal" (also ""), "uniform".
	Distribution string `param:"distribution"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v RLW) New() (Method, error) { return fromFields("rlw", v) }

// SDMGrad is the method "sdmgrad", SDMGrad.
type SDMGrad struct {
	// Lambda: λ ≥ 0, how strongly d is pulled towards the mean gradient: 0 gives MGDA, a large λ the mean; nil stands for 0.3.
	Lambda *float64 `param:"lambda"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v SDMGrad) New() (Method, error) { return fromFields("sdmgrad", v) }

// STCH is the method "stch", STCH.
type STCH struct {
	// Mu: μ > 0, smoothing: a small μ follows the largest loss alone, a large μ gives equal weights; 0 stands for 1.
	Mu float64 `param:"mu"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v STCH) New() (Method, error) { return fromFields("stch", v) }

// Sum is the method "sum", Sum.
type Sum struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v Sum) New() (Method, error) { return fromFields("sum", v) }

// TrimmedMean is the method "trimmed-mean", Trimmed mean.
type TrimmedMean struct {
	// Trim: how many of the largest and how many of the smallest entries are left out in each coordinate; fewer if none would be left; nil stands for 1.
	Trim *float64 `param:"trim"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v TrimmedMean) New() (Method, error) { return fromFields("trimmed-mean", v) }

// UPGrad is the method "upgrad", UPGrad.
type UPGrad struct {
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v UPGrad) New() (Method, error) { return fromFields("upgrad", v) }

// UW is the method "uw", UW.
type UW struct {
	// LR: step size of s, in [0, 1]; nil stands for 0.1.
	LR *float64 `param:"lr"`
	// Rescale: the scale of d: one of "native" (also ""), "mean", "match_avg".
	Rescale string `param:"rescale"`
}

// New implements [Value].
func (v UW) New() (Method, error) { return fromFields("uw", v) }
