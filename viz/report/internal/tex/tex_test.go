package tex_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/viz/report/internal/tex"
)

// formulas are of the kinds that the method's documents and notebooks hold.
var formulas = []string{
	`\theta \leftarrow \theta - \gamma J^\top w`,
	`d^* = \operatorname*{arg\,min}_{d \in \mathbb{R}^P} \max_{i} \frac{1}{\sigma_i} \langle g_i, d \rangle + \frac{1}{2}\|d\|^2`,
	`J_i \cdot d \ge \sigma_i \lVert d \rVert_2^2, \quad \forall i \in \mathcal{T}_t`,
	`\sigma_i = \frac{\exp(m_i/\tau)}{\sum_{k=1}^{K} \exp(m_k/\tau)}`,
	`m_i^{(t)} = \varepsilon_1 m_i^{(t-1)} + \varepsilon_2 \left\| \nabla_\theta \ell_i(\theta) \right\|`,
	`\cos(J_i, J_k) = \frac{J_i^\top J_k}{\|J_i\|\,\|J_k\|}`,
	`A = \frac1T \sum_{t=1}^T a_{\bar e}^t,\qquad F = \frac{1}{T}\sum_t \left(a_{\bar e}^t - a_{e_t}^t\right)`,
	`\mu^* = \arg\min_{\mu \in \Delta} \mu^\top M \mu`,
	`\lambda = \begin{cases} \frac{M_{22} - M_{12}}{M_{11} + M_{22} - 2M_{12}} & \text{if } M_{12} < \min(M_{11}, M_{22}) \\ 1 & \text{otherwise} \end{cases}`,
	`M = \begin{bmatrix} 18 & -22 \\ -22 & 38 \end{bmatrix}, \begin{pmatrix} a \\ b \end{pmatrix}`,
	`\begin{aligned} d &= \sum_i \lambda_i J_i \\ &= J^\top \lambda \end{aligned}`,
	`\mathbf{x} \gets \mathbf{x} - \eta \, \frac{\nabla_x \varphi}{\sqrt[3]{\epsilon + \widehat{v}}}`,
	`\underbrace{\lambda_1 + \dots + \lambda_K}_{K}`,
	`\sum_{\substack{i \in \mathcal{T}_t \\ i \neq 0}} w_i, \prod_{k}^{n}, \int_0^1 f(x)\,\mathrm{d}x`,
	`f''(x)^2 := \bigl| x' \bigr|^{2}`, `O(K^2 P)`, `10^{-9}`, `w \in [0, 1)`, `a \not\in B`, `σ_i‖d‖² ≥ 0`, `\{x \mid x > 0\}`,
	`\mathbb{E}_{x\sim p}[\log q(x)] \approx \hat{y} \pm 1.5\,\%`, `\binom{n}{k}`, `\log_2 x + \sin^2 y`, `\text{top-}k`,
	`\begin{array}{l|r} 1 & 2 \\ \hline 3 & 4 \end{array}`, `x = 1 \tag{3}`, `\displaystyle\sum_i i`, `\boldsymbol{\theta}\bm{\Lambda}`, ``,
}

// children is how many MathML wants.
var children = map[string]int{"msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3, "mfrac": 2, "mroot": 2}

// check reads the elements: well-formed, of the right number, none unknown.
func check(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	var names []string
	var counts []int
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(counts) > 0 {
				counts[len(counts)-1]++
			}
			names, counts = append(names, t.Name.Local), append(counts, 0)
		case xml.EndElement:
			n := len(names) - 1
			if want, ok := children[names[n]]; ok && counts[n] != want {
				return fmt.Errorf("%s has %d children, want %d", names[n], counts[n], want)
			}
			names, counts = names[:n], counts[:n]
		case xml.CharData:
			if n := len(names) - 1; n >= 0 && strings.Contains(" math mrow mtr mtable mfrac msub msup ", " "+names[n]+" ") {
				return fmt.Errorf("text %q in %s", t, names[n])
			}
		}
	}
}

func TestFormulas(t *testing.T) {
	for _, f := range formulas {
		for _, display := range []bool{false, true} {
			got, err := tex.MathML(f, display)
			if err == nil {
				err = check(got)
			}
			if err != nil {
				t.Errorf("%s: %v\n%s", f, err, got)
			}
			if strings.Contains(got, `display="block"`) != display {
				t.Errorf("%s: display %t is not said", f, display)
			}
		}
	}
}

func TestMathML(t *testing.T) {
	for _, c := range []struct {
		source  string
		display bool
		want    string
	}{
		{`x_i^2`, false, `<msubsup><mi>x</mi><mi>i</mi><mrow><mn>2</mn></mrow></msubsup>`},
		{`\frac12`, false, `<mfrac><mn>1</mn><mn>2</mn></mfrac>`},
		{`3.14, a<b`, false, `<mn>3.14</mn><mo>,</mo><mi>a</mi><mo>&lt;</mo><mi>b</mi>`},
		{`\sum_i`, true, `<munder><mo movablelimits="false">∑</mo><mi>i</mi></munder>`},
		{`\sum_i`, false, `<msub><mo>∑</mo><mi>i</mi></msub>`},
		{`\sum\limits_i`, false, `<munder><mo movablelimits="false">∑</mo><mi>i</mi></munder>`},
		{`\frac{\sum_i}{2}`, true, `<mfrac><mrow><msub><mo>∑</mo><mi>i</mi></msub></mrow><mrow><mn>2</mn></mrow></mfrac>`},
		{`\min_x f`, true, `<munder><mi>min</mi><mi>x</mi></munder><mspace width="0.167em"/><mi>f</mi>`},
		{`2\log x`, false, `<mn>2</mn><mspace width="0.167em"/><mi>log</mi><mspace width="0.167em"/><mi>x</mi>`},
		{`\log(x)`, false, `<mi>log</mi><mo stretchy="false">(</mo><mi>x</mi><mo stretchy="false">)</mo>`},
		{`\mathbb{R}\mathcal{T}\mathbf{J1}`, false, `<mrow><mi>ℝ</mi></mrow><mrow><mi>𝒯</mi></mrow><mrow><mi>𝐉</mi><mn>𝟏</mn></mrow>`},
		{`\mathrm{old}\Gamma`, false, `<mi>old</mi><mi mathvariant="normal">Γ</mi>`},
		{`\left. x \right|`, false, `<mrow><mi>x</mi><mo stretchy="true" fence="true" form="postfix">|</mo></mrow>`},
		{`f''^2`, false, `<msup><mi>f</mi><mrow><mo>′′</mo><mn>2</mn></mrow></msup>`},
		{`\text{if } a\&b`, false, "<mtext>if\u00a0</mtext><mi>a</mi><mi>&amp;</mi><mi>b</mi>"},
		{`a \not= b`, false, "<mi>a</mi><mo>=\u0338</mo><mi>b</mi>"},
	} {
		got, err := tex.MathML(c.source, c.display)
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		_, body, _ := strings.Cut(got, "><mrow>")
		if body = strings.TrimSuffix(body, "</mrow></math>"); body != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.source, body, c.want)
		}
	}
	got, err := tex.MathML("a\n  <\"b", true)
	if err != nil || !strings.HasPrefix(got, `<math display="block" alttext="a &lt;&#34;b"><mrow>`) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestMistakesAreErrors(t *testing.T) {
	for source, want := range map[string]string{
		`\foo x`: `unknown command \foo`, `{a`: "a } is missing at the end", `a}`: `"}" closes nothing`, `\frac{1}`: "an argument is missing at the end",
		`x_1_2`: "two subscripts", `\left( x`: `a \right is missing`, `\left x`: `"x" is no fence`, `\begin{tikz}`: `unknown environment "tikz"`,
		`\begin{cases} 1 \end{matrix}`: `\begin{cases} ends as \end{matrix}`, `\begin{array}{p} 1 \end{array}`: "want l, c or r",
		`a % b`: `a bare %`, `\text{x`: "a } is missing", `\not{x}`: "no operator", `\`: `a lone \`, `a & b`: `"&" closes nothing`,
		strings.Repeat("{", 200): "too deeply", `\operatorname{\frac12}`: "more than a name",
	} {
		if got, err := tex.MathML(source, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, error %v; want one with %q", source, got, err, want)
		}
	}
}

func FuzzMathML(f *testing.F) {
	for _, source := range formulas {
		f.Add(source, true)
	}
	f.Fuzz(func(t *testing.T, source string, display bool) {
		got, err := tex.MathML(source, display)
		if err != nil || strings.ContainsFunc(source, func(r rune) bool { return r < ' ' || r == 0xFFFD || r > 0xFFFD && r < 0x10000 }) {
			return // what XML itself cannot hold
		}
		if err := check(got); err != nil {
			t.Errorf("%q: %v\n%s", source, err, got)
		}
	})
}
