// What notebooks write that KaTeX refuses: macros and names that MathJax knows.
(() => {
  const gobble = n => context => (context.consumeArgs(n), "");
  const source = tokens => tokens.slice().reverse().map(t => t.text).join("");
  const tags = {}; // by label
  let label = ""; // of the formula at hand
  const macros = {
    "\\mbox": "\\text{#1}",
    "\\mathbbm": "\\mathbb{#1}",
    "\\mathds": "\\mathbb{#1}",
    "\\require": gobble(1),
    "\\vspace": gobble(1),
    "\\hfill": "\\quad",
    "\\label": context => (label = source(context.consumeArg().tokens), ""),
    "\\ref": context => "\\text{" + reference(context) + "}",
    "\\eqref": context => "\\text{(" + reference(context) + ")}",
    "\\newcommand": context => {
      const name = source(context.consumeArg().tokens);
      return (context.isDefined(name) ? "\\renewcommand{" : "\\providecommand{") + name + "}";
    },
    "\\DeclareMathOperator": context => {
      const star = context.future().text === "*" ? (context.popToken(), "*") : "";
      const [name, body] = context.consumeArgs(2);
      return "\\gdef" + source(name) + "{\\operatorname" + star + "{" + source(body) + "}}";
    },
  };
  const reference = context => {
    const name = source(context.consumeArg().tokens);
    return tags[name] ?? name;
  };
  // Environments that others number, or know by another name.
  const environments = {
    eqnarray: ["darray}{rcl", "darray"], multline: ["gather*", "gather*"],
    align: ["align*", "align*"], gather: ["gather*", "gather*"], equation: ["equation*", "equation*"], alignat: ["alignat*", "alignat*"],
  };
  const environment = /\\(begin|end)\{(eqnarray|multline|align|gather|equation|alignat)\*?\}/g;

  // Letters of an alphabet: the first of A-Z, a-z, 0-9 and of Greek, and those that Unicode has elsewhere.
  const alphabets = {
    bold: [0x1d400, 0x1d41a, 0x1d7ce, 0x1d6a8], italic: [0x1d434, 0x1d44e, 0, 0x1d6e2], "bold-italic": [0x1d468, 0x1d482, 0x1d7ce, 0x1d71c],
    "double-struck": [0x1d538, 0x1d552, 0x1d7d8], script: [0x1d49c, 0x1d4b6], fraktur: [0x1d504, 0x1d51e],
    "sans-serif": [0x1d5a0, 0x1d5ba, 0x1d7e2], monospace: [0x1d670, 0x1d68a, 0x1d7f6],
  };
  const elsewhere = {
    italic: { h: "ℎ" }, "double-struck": { C: "ℂ", H: "ℍ", N: "ℕ", P: "ℙ", Q: "ℚ", R: "ℝ", Z: "ℤ" }, fraktur: { C: "ℭ", H: "ℌ", I: "ℑ", R: "ℜ", Z: "ℨ" },
    script: { B: "ℬ", E: "ℰ", F: "ℱ", H: "ℋ", I: "ℐ", L: "ℒ", M: "ℳ", R: "ℛ", e: "ℯ", g: "ℊ", o: "ℴ" },
  };
  const letter = (c, variant) => {
    const [upper, lower, digit, greek] = alphabets[variant];
    for (const [from, to, first] of [["A", "Z", upper], ["a", "z", lower], ["0", "9", digit], ["Α", "Ω", greek], ["α", "ω", greek && greek + 26]]) {
      if (c >= from && c <= to && first) return elsewhere[variant]?.[c] ?? String.fromCodePoint(first + c.charCodeAt(0) - from.charCodeAt(0));
    }
    return c;
  };

  // Browsers draw MathML Core: letters are of their alphabet, cells say themselves how they are aligned, lines are borders.
  const core = node => {
    const { type, attributes, children = [] } = node;
    if (!attributes) return;
    children.forEach(core);
    const variant = attributes.mathvariant, over = children[1]?.children?.[0]?.text;
    if (alphabets[variant]) {
      delete attributes.mathvariant;
      for (const text of children) text.text = [...text.text ?? ""].map(c => letter(c, variant)).join("");
    } else if (type === "menclose") {
      attributes.style = attributes.notation === "box" ? "border:1px solid;padding:.2em" : "text-decoration:line-through";
    } else if (over === "‾" && (type === "mover" || type === "munder")) {
      become(node, { type: "mrow", attributes: { style: type === "mover" ? "border-top:1px solid;padding-top:.1em" : "border-bottom:1px solid" }, children: [children[0]] });
    } else if (type === "mo" && attributes.fence) {
      for (const text of children) text.text = { "∣": "|", "∥": "‖" }[text.text] ?? text.text; // those that grow
    } else if (/^m(sub|sup|under|over)/.test(type) && isApplied(children[0])) {
      const scripted = become(Object.create(Object.getPrototypeOf(node)), { ...node, children: [children[0].children[0], ...children.slice(1)] });
      become(node, { type: "mrow", attributes: {}, children: [scripted, children[0].children[1]] });
    } else if (type === "mrow") {
      children.forEach((child, i) => space(child, children[i + 1]));
    } else if (type === "mtable") {
      align(children, attributes);
      node.attributes = {};
    }
  };
  const become = Object.assign;
  // isApplied says whether a row is a function's name and the sign that it is applied.
  const isApplied = row => row.type === "mrow" && row.children.length === 2 && row.children[1].children?.[0]?.text === "\u2061";
  // space puts some between a function's name and what follows, unless that is a bracket.
  const space = (node, next) => {
    const sign = isApplied(node) ? node.children[1] : node;
    if (sign.children?.[0]?.text === "\u2061" && next && !/^[([{|]$/.test(next.children?.[0]?.text)) sign.attributes.rspace = "0.167em";
  };
  const align = (rows, { columnalign = "center", columnspacing }) => {
    const sides = columnalign.split(" "), padding = columnspacing === "0em" ? side => ";padding-" + side + ":0" : () => "";
    for (const row of rows) {
      row.children = row.children.filter(cell => !cell.classes?.includes("mtr-glue") && !cell.classes?.includes("mml-eqn-num"));
      row.children.forEach((cell, i) => {
        const side = sides[i % sides.length], [only, ...more] = cell.children;
        if (only?.type === "mstyle" && more.length === 0) {
          if (only.attributes.displaystyle === "true") cell.setAttribute("displaystyle", "true");
          cell.children = only.children;
        }
        if (side !== "center") cell.setAttribute("style", "text-align:" + side + ";text-align:-webkit-" + side + padding(side)); // Chromium's
      });
    }
  };

  // What a macro makes is counted before it is made: its text, with the arguments in their places. KaTeX counts macros alone,
  // each of which may be as long as a formula.
  let work = 0, most = 0, body = [];
  const spend = n => {
    work += n;
    if (work > most) throw new Error("Error: its macros make too much");
  };
  const count = expander => {
    const { pushTokens, consumeArgs, _getExpansion } = expander;
    Object.assign(expander, {
      pushTokens(tokens) { spend(tokens.length); pushTokens.call(this, tokens); },
      _getExpansion(name) { const found = _getExpansion.call(this, name); body = found?.tokens ?? []; return found; },
      consumeArgs(n, delimiters) {
        const places = body;
        const args = consumeArgs.call(this, n, delimiters);
        for (const { text } of places) spend(args[text - 1]?.length ?? 0);
        return args;
      },
    });
  };
  katex.__parse("\\count", { macros: { "\\count": context => (count(context.constructor.prototype), "") } });

  const refuse = context => { throw new Error(context.command + " is left out"); };

  // The formulas of one notebook, which has the engine for itself, share their macros. Their work may not exceed a limit.
  const typeset = (tex, display, limit) => {
    label = "";
    [work, most, body] = [tex.length, limit, []];
    const source = tex.replace(environment, (_, end, name) => "\\" + end + "{" + environments[name][end === "begin" ? 0 : 1] + "}");
    const tree = katex.__renderToDomTree(source, {
      displayMode: display, output: "mathml", throwOnError: true, strict: "ignore", trust: refuse, globalGroup: true, maxExpand: 1000, maxSize: 50, macros,
    });
    const math = tree.children[0], semantics = math.children[0];
    math.children = semantics.children.slice(0, 1); // without the source
    delete math.attributes.xmlns; // HTML knows
    core(math);
    const tag = /\\tag\*?\{([^{}]*)\}/.exec(tex);
    if (label && tag) tags[label] = tag[1];
    return math.toMarkup();
  };
  return [typeset, () => work];
})();
