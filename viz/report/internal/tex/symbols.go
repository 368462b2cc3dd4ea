package tex

import "strings"

// symbol is what a command without arguments stands for.
type symbol struct {
	text string
	kind byte   // l letter, o operator, f function, F function with limits, ( fence, | fence for both sides
	form string // of a fence
}

var symbols = func() map[string]symbol {
	m := map[string]symbol{}
	for _, set := range []struct {
		kind byte
		form string
		list string // name and text, again and again
	}{
		{'l', "", `alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι
			kappa κ lambda λ mu μ nu ν xi ξ pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ
			phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ
			Phi Φ Psi Ψ Omega Ω ell ℓ hbar ℏ imath ı jmath ȷ Re ℜ Im ℑ aleph ℵ partial ∂ nabla ∇ infty ∞
			emptyset ∅ varnothing ∅ top ⊤ bot ⊥ forall ∀ exists ∃ neg ¬ lnot ¬ prime ′ dagger † % % # # & & $ $ _ _
			checkmark ✓ square □ blacksquare ■ angle ∠`},
		{'o', "", `cdot ⋅ times × div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet ∙ oplus ⊕ ominus ⊖ otimes ⊗ odot ⊙
			cap ∩ cup ∪ setminus ∖ wedge ∧ land ∧ vee ∨ lor ∨ leq ≤ le ≤ geq ≥ ge ≥ ll ≪ gg ≫ neq ≠ ne ≠ equiv ≡
			lt < gt > approx ≈ sim ∼ simeq ≃ cong ≅ propto ∝ in ∈ notin ∉ ni ∋ subset ⊂ supset ⊃ subseteq ⊆ supseteq ⊇
			mid ∣ nmid ∤ parallel ∥ perp ⟂ prec ≺ succ ≻ preceq ⪯ succeq ⪰ lesssim ≲ gtrsim ≳ to → rightarrow →
			leftarrow ← gets ← Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ iff ⟺ implies ⟹ leftrightarrow ↔ mapsto ↦
			uparrow ↑ downarrow ↓ nearrow ↗ searrow ↘ longrightarrow ⟶ leftsquigarrow ⇜ rightsquigarrow ⇝
			ldots … dots … dotsc … cdots ⋯ dotsb ⋯ vdots ⋮ ddots ⋱ colon : coloneqq ≔ triangleq ≜ doteq ≐
			sum ∑ prod ∏ coprod ∐ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂ bigvee ⋁ bigwedge ⋀
			int ∫ iint ∬ iiint ∭ oint ∮`},
		{'f', "", `log log ln ln lg lg exp exp sin sin cos cos tan tan cot cot sec sec csc csc arcsin arcsin arccos arccos
			arctan arctan sinh sinh cosh cosh tanh tanh dim dim ker ker deg deg hom hom arg arg`},
		{'F', "", `min min max max sup sup inf inf lim lim det det gcd gcd Pr Pr argmin argmin argmax argmax`},
		{'(', "prefix", `langle ⟨ lfloor ⌊ lceil ⌈ lvert | lVert ‖ { { lbrace { lbrack [`},
		{'(', "postfix", `rangle ⟩ rfloor ⌋ rceil ⌉ rvert | rVert ‖ } } rbrace } rbrack ]`},
		{'|', "", `vert | Vert ‖ | ‖ backslash \`},
	} {
		f := strings.Fields(set.list)
		for i := 0; i < len(f); i += 2 {
			m[f[i]] = symbol{f[i+1], set.kind, set.form}
		}
	}
	m["limsup"] = symbol{"lim\u2009sup", 'F', ""}
	m["liminf"] = symbol{"lim\u2009inf", 'F', ""}
	return m
}()

// largeOperator says whether scripts go above and below an operator in display style.
func largeOperator(t string) bool { return strings.Contains("∑∏∐⋃⋂⨁⨂⋁⋀", t) }

var spaces = map[string]string{
	",": "0.167em", "thinspace": "0.167em", ":": "0.222em", ">": "0.222em", ";": "0.278em", "!": "-0.167em",
	" ": "0.333em", "\n": "0.333em", "enspace": "0.5em", "quad": "1em", "qquad": "2em",
}

var sizes = map[string]string{"big": "1.2em", "Big": "1.8em", "bigg": "2.4em", "Bigg": "3em"}

type accent struct {
	text                    string
	stretchy, below, limits bool
}

var accents = map[string]accent{
	"hat": {text: "^"}, "widehat": {text: "^", stretchy: true}, "tilde": {text: "~"}, "widetilde": {text: "~", stretchy: true},
	"bar": {text: "¯"}, "overline": {text: "¯", stretchy: true}, "vec": {text: "→"}, "overrightarrow": {text: "→", stretchy: true},
	"dot": {text: "˙"}, "ddot": {text: "¨"}, "check": {text: "ˇ"}, "breve": {text: "˘"}, "acute": {text: "´"}, "grave": {text: "`"},
	"underline": {text: "_", stretchy: true, below: true},
	"overbrace": {text: "⏞", stretchy: true, limits: true}, "underbrace": {text: "⏟", stretchy: true, below: true, limits: true},
}

// fonts are the commands that choose an alphabet.
var fonts = map[string]string{
	"mathrm": "rm", "mathit": "", "mathbf": "bf", "boldsymbol": "bi", "bm": "bi", "mathbb": "bb", "mathcal": "cal",
	"mathscr": "cal", "mathsf": "sf", "mathtt": "tt", "mathfrak": "frak",
}

// alphabets say where Unicode has them: their A, a, α and 0, or 0.
var alphabets = map[string]struct{ upper, lower, greek, zero rune }{
	"bf": {0x1D400, 0x1D41A, 0x1D6C2, 0x1D7CE}, "bi": {0x1D468, 0x1D482, 0x1D736, 0x1D7CE}, "bb": {0x1D538, 0x1D552, 0, 0x1D7D8},
	"cal": {0x1D49C, 0x1D4B6, 0, 0}, "sf": {0x1D5A0, 0x1D5BA, 0, 0x1D7E2}, "tt": {0x1D670, 0x1D68A, 0, 0x1D7F6},
	"frak": {0x1D504, 0x1D51E, 0, 0},
}

// elsewhere are the letters that Unicode had before the alphabets, which leave their places empty.
var elsewhere = map[string]map[rune]rune{
	"bb":   {'C': 'ℂ', 'H': 'ℍ', 'N': 'ℕ', 'P': 'ℙ', 'Q': 'ℚ', 'R': 'ℝ', 'Z': 'ℤ'},
	"cal":  {'B': 'ℬ', 'E': 'ℰ', 'F': 'ℱ', 'H': 'ℋ', 'I': 'ℐ', 'L': 'ℒ', 'M': 'ℳ', 'R': 'ℛ', 'e': 'ℯ', 'g': 'ℊ', 'o': 'ℴ'},
	"frak": {'C': 'ℭ', 'H': 'ℌ', 'I': 'ℑ', 'R': 'ℜ', 'Z': 'ℨ'},
}

// inFont returns letters and digits in the alphabet chosen.
func (p *parser) inFont(s string) string {
	a, ok := alphabets[p.font]
	if !ok {
		return s
	}
	return strings.Map(func(r rune) rune {
		if e, ok := elsewhere[p.font][r]; ok {
			return e
		}
		switch {
		case r >= 'A' && r <= 'Z':
			return a.upper + r - 'A'
		case r >= 'a' && r <= 'z':
			return a.lower + r - 'a'
		case r >= 'α' && r <= 'ω' && a.greek != 0:
			return a.greek + r - 'α'
		case r >= 'Α' && r <= 'Ω' && a.greek != 0:
			return a.greek - 26 + r - 'Α'
		case r >= '0' && r <= '9' && a.zero != 0:
			return a.zero + r - '0'
		}
		return r
	}, s)
}
