// Package emgd is the mathematics of Elastic Multi-Gradient Descent (Lyu, Feng et al.,
// "Elastic Multi-Gradient Descent for Parallel Continual Learning", arXiv 2401.01054), in float64
// and without a machine-learning framework.
//
// One step has K active streams with loss gradients J_i (the rows of J) and their Gram matrix M =
// JJᵀ. [NewProblem] checks M and scales it, [Elastic] turns it into the elastic factors σ (rules
// GMC, GS and log GMC), and [Solver] turns it and σ into weights λ:
//
//	minimise ½‖d‖²,  d = Σ λ_i J_i,  subject to Σ λ_i σ_i = 1 and λ ≥ floor,
//
// to be used as θ ← θ − γ d. With the default floor of 0, its optimality conditions are J_i·d ≥
// σ_i‖d‖² for every i, with equality where λ_i > 0: a step decreases loss i by at least γσ_i‖d‖² to
// first order, so σ_i is the share that stream i is guaranteed. A positive floor gives that
// guarantee up (docs/method.md §2.5). Every solve comes with a [Certificate] of its conditions.
//
// Special cases: σ_i = 1 for all i is MGDA; σ one-hot is GEM without a margin (A-GEM for K = 2);
// σ_i ∝ ‖J_i‖ is ConFIG, length included, when every λ_i is positive.
package emgd
