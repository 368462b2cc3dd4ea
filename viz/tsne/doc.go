// Package tsne embeds points in the plane so that neighbours stay neighbours: exact t-SNE (van der
// Maaten and Hinton, JMLR 9, 2008), in float64 and seeded. Time and memory are O(n²): it is for
// some thousands of points.
//
// [Embed] minimises C = KL(P‖Q) = Σ p_ij log(p_ij/q_ij) over the positions y, where
//
//	p_j|i ∝ exp(−β_i‖x_i − x_j‖²), with β_i such that the entropy of p_·|i is log(perplexity),
//	p_ij = (p_j|i + p_i|j)/2n,
//	q_ij = w_ij/Z, w_ij = 1/(1 + ‖y_i − y_j‖²), Z = Σ w_kl over k ≠ l,
//	∂C/∂y_i = 4 Σ_j (p_ij − q_ij) w_ij (y_i − y_j).
package tsne
