"use strict";
const all = (query, at = document) => [...at.querySelectorAll(query)];
const make = (tag, properties, ...children) => {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
};
const drawn = (tag, attributes, parent) => {
  const e = document.createElementNS(parent.namespaceURI, tag);
  for (const name in attributes) e.setAttribute(name, attributes[name]);
  return parent.appendChild(e);
};
const digits = x => String(+x.toPrecision(4)).replace("-", "−").replace(/e\+?/, "·10^");

// Light and dark: what the reader has chosen lasts, where the browser keeps it.
const head = document.querySelector("header nav") ?? document.querySelector("header").appendChild(make("div", { className: "tools" }));
const scheme = head.appendChild(make("button", { type: "button", className: "switch" }));
const keep = value => { try { return value ? localStorage.setItem("scheme", value) : localStorage.getItem("scheme"); } catch { return null; } };
const dark = () => (document.documentElement.style.colorScheme || (matchMedia("(prefers-color-scheme:dark)").matches ? "dark" : "light")) === "dark";
const choose = value => {
  if (value) document.documentElement.style.colorScheme = value;
  scheme.textContent = dark() ? "Light" : "Dark";
};
choose(keep());
scheme.onclick = () => { choose(dark() ? "light" : "dark"); keep(dark() ? "dark" : "light"); };

// What a reader has chosen stands in the address behind "#?", so that a view can be sent: filters, a sorted column, series
// that are switched off.
const view = new URLSearchParams(location.hash.startsWith("#?") ? location.hash.slice(2) : "");
const remember = (name, value) => {
  if (value) view.set(name, value); else view.delete(name);
  history.replaceState(null, "", String(view) ? "#?" + view : location.pathname + location.search);
};

// Code is shown or not, on paper too.
if (all(".code").length) {
  const code = head.appendChild(make("button", { type: "button", className: "switch" }));
  const show = () => {
    document.body.classList.toggle("nocode", view.has("nocode"));
    code.textContent = view.has("nocode") ? "Show code" : "Hide code";
  };
  code.onclick = () => { remember("nocode", !view.has("nocode") && "1"); show(); };
  show();
}

// Tables.
const save = (name, type, content) => {
  const a = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
};
// What a spreadsheet would take for a formula becomes a text.
const quoted = text => /^[=@\t]|^[+-](?![0-9.])/.test(text) ? "'" + text : text;
const csv = rows => rows.map(row => row.map(cell => {
  const text = quoted(cell.replace(/^−(?=[\d.])/, "-"));
  return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}).join(",") + "\n").join("");
const words = e => e.innerText.trim().replace(/\s+/g, " ");

for (const th of all(".cell thead th")) { // tables of a notebook sort like those of runs
  if (!th.textContent.trim() || th.closest(".pcl-figure")) continue;
  th.append(make("button", { type: "button" }, ...th.childNodes));
  th.ariaSort = "none";
  th.closest("table").classList.add("sortable");
}

const sorted = (table, column, down) => {
  const body = table.tBodies[0], head = table.tHead.rows[0];
  const value = tr => {
    const td = tr.children[column], text = td?.textContent.trim() ?? "", number = parseFloat(text.replace("−", "-"));
    return isNaN(number) ? text : number;
  };
  const rows = [...body.rows];
  down ??= rows.some(tr => typeof value(tr) === "number");
  for (const th of head.cells) if (th.ariaSort) th.ariaSort = "none";
  head.cells[column].ariaSort = down ? "descending" : "ascending";
  rows.sort((a, b) => {
    const x = value(a), y = value(b);
    if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
    const order = typeof x === "number" ? x - y : x.localeCompare(y);
    return down ? -order : order;
  });
  body.append(...rows);
  return down;
};

for (const table of all("table.sortable")) {
  if (!table.tBodies[0] || !table.tHead) continue;
  const name = table.id && table.id + ".sort";
  for (const button of all("th button", table)) button.onclick = () => {
    const th = button.closest("th"), column = [...th.parentNode.children].indexOf(th);
    const down = sorted(table, column, th.ariaSort === "none" ? undefined : th.ariaSort === "ascending");
    if (name) remember(name, column + (down ? "d" : "u"));
  };
  const [, column, way] = /^(\d+)([du])$/.exec((name && view.get(name)) || "") || [];
  if (table.tHead.rows[0].cells[column]) sorted(table, +column, way === "d");
}

// A table with an id is filtered by words, and by the values of the columns that say so.
for (const table of all("table.filtered")) {
  const bar = make("div", { className: "tools" }), rows = [...table.tBodies[0].rows], count = make("output");
  const fields = [];
  const show = () => {
    for (const tr of rows) tr.hidden = fields.some(f => f.value && !f.fits(tr, f.value));
    const n = rows.filter(tr => !tr.hidden).length;
    count.textContent = n < rows.length ? `${n} of ${rows.length}` : "";
  };
  const add = (field, name, fits) => {
    field.value = view.get(table.id + "." + name) ?? "";
    field.fits = fits;
    field.oninput = () => { remember(table.id + "." + name, field.value); show(); };
    fields.push(field);
    bar.append(make("label", {}, name + " ", field));
  };
  add(make("input", { type: "search", size: 12 }), "method", (tr, v) => words(tr.cells[0]).toLowerCase().includes(v.toLowerCase()));
  for (const name of ["data", "increment"]) {
    const values = [...new Set(rows.map(tr => tr.dataset[name]).filter(Boolean))];
    if (values.length < 2) continue;
    const choice = make("select", {}, make("option", { value: "" }, "all"), ...values.map(v => make("option", { value: v }, v)));
    add(choice, name, (tr, v) => tr.dataset[name] === v);
  }
  bar.append(count, make("button", {
    type: "button", textContent: "CSV", ariaLabel: "Save the table as CSV",
    onclick: () => save(table.id + ".csv", "text/csv", csv([...table.rows].filter(tr => !tr.hidden).map(tr => [...tr.cells].map(words)))),
  }));
  table.parentNode.before(bar);
  show();
}

for (const table of all("table")) { // one of many columns lies across its page of paper
  if ((table.rows[0]?.cells.length ?? 0) > 9) (table.closest(".scroll,.out") ?? table).classList.add("turned");
}

// A picture stands in a page once: where it is shown again, it is that of the first place.
for (const img of all("img[data-as]")) img.src = document.querySelector(`img[data-picture="${img.dataset.as}"]`).src;

// The frames of a slider: the one whose number it has shows. The others are packed.
const framed = all(".pcl-frames").map(async frames => {
  const [slider, output, shown] = frames.querySelectorAll("input,output,div");
  const { Labels, HTML, Values } = await unpack(frames.dataset.frames).json();
  const pictures = HTML.map(html => html ? make("div", { innerHTML: html, hidden: true }) : shown);
  pictures.forEach((p, i) => { p.firstChild.values = Values[i]; });
  frames.append(...pictures);
  slider.oninput = () => {
    pictures.forEach((p, i) => { p.hidden = i !== +slider.value; });
    output.textContent = slider.ariaValueText = Labels[+slider.value];
  };
});

// A series lights up wherever it is drawn or named.
let lit = null;
const light = name => {
  if (name === lit) return;
  lit = name;
  for (const e of all("[data-series]")) e.classList.toggle("lit", e.dataset.series === name);
  for (const svg of all(".pcl-plot")) svg.classList.toggle("dimmed", !!name && all(".lit", svg).length > 0);
};
for (const tr of all("tr[data-series]")) Object.assign(tr, { onpointerenter: () => light(tr.dataset.series), onpointerleave: () => light(null) });

const tip = make("div", { id: "tip", role: "status", hidden: true });
document.body.append(tip);
const say = (item, svg) => {
  tip.hidden = !item;
  if (!item) return;
  tip.textContent = item.text;
  const at = svg.getScreenCTM(), x = at.a * item.x + at.e + scrollX, y = at.d * item.y + at.f + scrollY;
  tip.style.left = Math.max(4, Math.min(x + 12, scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8)) + "px";
  tip.style.top = (y - tip.offsetHeight - 12 < scrollY ? y + 16 : y - tip.offsetHeight - 12) + "px";
};

// absolute is a path of a drawing with the places of all its points instead of their distances.
const absolute = d => {
  let pen = [0, 0], begun;
  return d.replace(/([A-Za-z])([^A-Za-z]*)/g, (_, command, rest) => {
    const numbers = (rest.match(/-?\d+/g) ?? []).map(Number), points = [], every = { h: 1, v: 1, c: 6, q: 4 }[command] ?? 2;
    for (let i = 0; i < numbers.length; i += every) {
      const by = { h: [numbers[i], 0], v: [0, numbers[i]] }[command] ?? numbers.slice(i, i + every), [x, y] = pen;
      for (let k = 0; k < by.length; k += 2) points.push(pen = [x + by[k], y + by[k + 1]]);
    }
    if (command === "Z") pen = begun;
    if (command === "M" || command === "m") begun = pen;
    return ({ h: "L", v: "L" }[command] ?? command.toUpperCase()) + points.map(p => p.join(" ")).join(" ");
  });
};

// A plot of a figure: its values, a pointer on them, and a zoom.
class Plot {
  constructor(svg, x, y) {
    Object.assign(this, { svg, x: JSON.parse(x), y: JSON.parse(y), view: null, at: -1 });
    [this.left, this.top, this.width, this.height] = svg.dataset.box.split(" ").map(Number);
    this.whole = [this.left, this.top, this.left + this.width, this.top + this.height];
    svg.tabIndex = 0;
    const on = {
      pointermove: e => this.point(e), pointerdown: e => this.begin(e), pointerleave: () => this.choose(null),
      blur: () => this.choose(null), dblclick: () => this.zoom(null), keydown: e => this.key(e),
    };
    for (const kind in on) svg.addEventListener(kind, on[kind]);
  }

  // place is where values lie in the drawing as it is zoomed.
  place(x, y) {
    const share = (a, v) => a.Kind === "log" ? Math.log(v / a.Min) / Math.log(a.Max / a.Min) : (v - a.Min) / (a.Max - a.Min);
    return this.moved([this.left + this.width * share(this.x, x), this.top + this.height * (1 - share(this.y, y))]);
  }

  // moved is where the zoom puts a place.
  moved([x, y]) {
    const [l, t, r, b] = this.view ?? this.whole;
    return [this.left + (x - l) / (r - l) * this.width, this.top + (y - t) / (b - t) * this.height];
  }

  value(a, v) {
    if (a.Kind === "names") return a.Names?.length ? a.Names.reduce((n, o) => Math.abs(o.At - v) < Math.abs(n.At - v) ? o : n).Name : digits(v);
    return a.Kind === "power" ? "10^" + digits(v) : digits(v);
  }

  // items are all that can be pointed at, by series.
  items() {
    if (this.list) return this.list;
    this.list = [];
    for (const g of all("g[data-series],g[data-say]", this.svg)) {
      if (g.classList.contains("off")) continue;
      const name = g.dataset.series ?? "";
      if (g.dataset.say) {
        const b = g.getBBox();
        this.list.push({ name, x: b.x + b.width / 2, y: b.y + b.height / 2, half: [b.width / 2, b.height / 2], text: (name && !g.dataset.say.startsWith(name) ? name + ": " : "") + g.dataset.say });
        continue;
      }
      for (const [x, y, low, high] of g.values ?? []) {
        const [px, py] = this.place(x, y), [l, t, r, b] = this.whole;
        if (px < l - 10 || px > r + 10 || py < t - 10 || py > b + 10) continue;
        const spread = low == null ? "" : ` (${this.value(this.y, low)} to ${this.value(this.y, high)})`;
        this.list.push({ name, x: px, y: py, half: [0, 0], text: `${name}\n${this.x.Label || "x"}: ${this.value(this.x, x)}\n${this.y.Label || "y"}: ${this.value(this.y, y)}${spread}` });
      }
    }
    return this.list;
  }

  here(e) {
    const at = this.svg.getScreenCTM().inverse();
    return [at.a * e.clientX + at.e, at.d * e.clientY + at.f];
  }

  point(e) {
    const [x, y] = this.here(e);
    if (this.from) return this.stretch(x, y);
    let best = null, least = 240;
    for (const item of this.items()) {
      const d = Math.hypot(Math.max(0, Math.abs(item.x - x) - item.half[0]), Math.max(0, Math.abs(item.y - y) - item.half[1]));
      if (d < least || d === least && best && item.half[0] < best.half[0]) [best, least] = [item, d];
    }
    this.choose(best);
  }

  choose(item) {
    this.ring?.remove();
    this.at = item ? this.items().indexOf(item) : -1;
    if (item && !item.half[0]) this.ring = drawn("circle", { cx: item.x, cy: item.y, r: 40, class: "pcl-ring" }, this.svg);
    light(item?.name || null);
    say(item, this.svg);
  }

  key(e) {
    const items = this.items(), now = items[this.at];
    const beside = way => items.slice(...(way > 0 ? [this.at + 1] : [0, Math.max(0, this.at)]))[way > 0 ? "find" : "findLast"](i => !now || i.name === now.name);
    const others = way => {
      const names = [...new Set(items.map(i => i.name))], k = (names.indexOf(now?.name) + way + names.length) % names.length;
      return items.filter(i => i.name === names[k]).reduce((n, i) => !now || Math.abs(i.x - now.x) < Math.abs(n.x - now.x) ? i : n);
    };
    const act = {
      ArrowRight: () => beside(1), ArrowLeft: () => beside(-1), ArrowUp: () => items.length && others(1), ArrowDown: () => items.length && others(-1),
      "+": () => this.closer(0.5, now), "-": () => this.closer(2, now), Escape: () => { this.zoom(null); this.choose(null); },
    }[e.key];
    if (!act) return;
    e.preventDefault();
    const next = act();
    if (next) this.choose(next);
  }

  closer(by, now) {
    const [l, t, r, b] = this.view ?? this.whole;
    const sx = now ? (now.x - this.left) / this.width : 0.5, sy = now ? (now.y - this.top) / this.height : 0.5;
    const x = l + sx * (r - l), y = t + sy * (b - t), w = (r - l) * by, h = (b - t) * by;
    this.zoom(w >= this.width ? null : [x - sx * w, y - sy * h, x + (1 - sx) * w, y + (1 - sy) * h]);
  }

  // begin, stretch and end drag a frame; a click on a series switches it as its key does.
  begin(e) {
    const [x, y] = this.here(e), [l, t, r, b] = this.whole;
    if (e.button || e.pointerType === "touch" || x < l || x > r || y < t || y > b) return;
    this.from = [x, y];
    this.frame = drawn("rect", { class: "pcl-frame" }, this.svg);
    this.svg.setPointerCapture(e.pointerId);
    this.svg.addEventListener("pointerup", up => this.end(up), { once: true });
    e.preventDefault();
    this.svg.focus({ preventScroll: true });
  }

  within(x, y) {
    const a = [x, y].map((v, i) => Math.max(this.whole[i], Math.min(this.whole[i + 2], v)));
    return [Math.min(a[0], this.from[0]), Math.min(a[1], this.from[1]), Math.max(a[0], this.from[0]), Math.max(a[1], this.from[1])];
  }

  stretch(x, y) {
    const [l, t, r, b] = this.within(x, y);
    for (const [name, v] of Object.entries({ x: l, y: t, width: r - l, height: b - t })) this.frame.setAttribute(name, v);
  }

  end(e) {
    const [l, t, r, b] = this.within(...this.here(e));
    this.frame.remove();
    this.from = null;
    if (r - l < 60 || b - t < 60) return;
    const [vl, vt, vr, vb] = this.view ?? this.whole;
    const x = v => vl + (v - this.left) / this.width * (vr - vl), y = v => vt + (v - this.top) / this.height * (vb - vt);
    this.zoom([x(l), y(t), x(r), y(b)]);
  }

  // zoom shows a part of the data, or all: it moves what is drawn, and draws the axes anew. Axes of names stay.
  zoom(view) {
    const linear = a => !a.Kind;
    if (view && !linear(this.x)) [view[0], , view[2]] = this.whole;
    if (view && !linear(this.y)) [, view[1], , view[3]] = this.whole;
    if (view && !linear(this.x) && !linear(this.y)) return;
    this.view = view;
    this.list = null;
    this.choose(null);
    this.axes?.remove();
    this.svg.classList.toggle("zoomed", !!view);
    if (!this.clip) {
      const id = "clip" + all("clipPath").length, clip = drawn("clipPath", { id }, this.svg);
      drawn("rect", { x: this.left - 30, y: this.top - 30, width: this.width + 60, height: this.height + 60 }, clip);
      this.clip = `url(#${id})`;
    }
    for (const g of all(".pcl-in", this.svg)) {
      if (view) g.setAttribute("clip-path", this.clip); else g.removeAttribute("clip-path");
      for (const e of all("path,text,image", g)) this.move(e);
    }
    if (view) this.ticks();
  }

  move(e) {
    if (e.localName === "path") {
      e.was ??= absolute(e.getAttribute("d"));
      const rigid = getComputedStyle(e).fill !== "none";
      e.setAttribute("d", e.was.replace(/M[^M]*/g, part => {
        const points = part.match(/-?\d+ -?\d+/g).map(p => p.split(" ").map(Number));
        const [xs, ys] = [points.map(p => p[0]), points.map(p => p[1])];
        const middle = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
        const small = rigid && Math.max(...xs) - Math.min(...xs) < 100 && Math.max(...ys) - Math.min(...ys) < 100; // a marker
        const to = small && this.moved(middle);
        return part.replace(/-?\d+ -?\d+/g, p => {
          const at = p.split(" ").map(Number);
          return (small ? [at[0] - middle[0] + to[0], at[1] - middle[1] + to[1]] : this.moved(at)).map(v => Math.round(v)).join(" ");
        });
      }));
      return;
    }
    e.was ??= ["x", "y", "width", "height"].map(name => +e.getAttribute(name));
    const [x, y] = this.moved(e.was), [r, b] = this.moved([e.was[0] + e.was[2], e.was[1] + e.was[3]]);
    e.setAttribute("x", x);
    e.setAttribute("y", y);
    if (e.localName === "image") { e.setAttribute("width", r - x); e.setAttribute("height", b - y); }
  }

  ticks() {
    const [l, t, r, b] = this.view, bottom = this.whole[3];
    this.axes = drawn("g", { class: "pcl-axes" }, this.svg);
    drawn("rect", { x: this.left, y: this.top, width: this.width, height: this.height }, this.axes);
    const along = (a, from, to, put) => {
      if (a.Kind) return;
      const step = 10 ** Math.floor(Math.log10((to - from) / 4)), s = step * [1, 2, 5, 10].find(m => (to - from) / (m * step) <= 6);
      for (let v = Math.ceil(from / s) * s; v <= to + s / 1e6; v += s) put(v, digits(Math.round(v / s) * s));
    };
    const value = (a, share) => a.Min + share * (a.Max - a.Min);
    along(this.x, value(this.x, (l - this.left) / this.width), value(this.x, (r - this.left) / this.width), (v, text) => {
      const [x] = this.place(v, this.y.Min);
      drawn("path", { d: `M${x} ${bottom}v30` }, this.axes);
      drawn("text", { x, y: bottom + 120, "text-anchor": "middle" }, this.axes).textContent = text;
    });
    along(this.y, value(this.y, (bottom - b) / this.height), value(this.y, (bottom - t) / this.height), (v, text) => {
      const [, y] = this.place(this.x.Min, v);
      drawn("path", { d: `M${this.left} ${y}h-30` }, this.axes);
      drawn("text", { x: this.left - 50, y: y + 30, "text-anchor": "end" }, this.axes).textContent = text;
    });
  }
}

// rowsOf are the rows of columns, which viz/packed.go tells how to read.
const rowsOf = packed => {
  const kinds = packed.map(c => c[1]), rows = (packed[0] ?? []).slice(2).map((_, i) => packed.map(c => c[i + 2])), last = new Map();
  rows.forEach((row, i) => kinds.forEach((kind, k) => { if (kind === -2 && row[k] === 0) row[k] = rows[i - 1][k]; }));
  for (const row of rows) {
    const name = JSON.stringify(row.filter((_, k) => kinds[k] === -2)), sums = last.get(name) ?? [];
    last.set(name, sums);
    kinds.forEach((kind, k) => {
      if (kind < 0 || row[k] === null) return;
      row[k] = (sums[k] = row[k] + (sums[k] ?? 0)) / 10 ** kind;
    });
  }
  return rows;
};

// A figure: its key switches series and brings them forward, and its data can be seen and saved.
const explore = (figure, number) => {
  let x, y;
  const plots = all(".pcl-plot", figure).map(svg => new Plot(svg, x = svg.dataset.x ?? x, y = svg.dataset.y ?? y));
  const named = all("g[data-series]", figure), series = [...new Set(named.map(g => g.dataset.series))];
  const name = "off" + number, off = new Set(view.getAll(name));
  for (const entry of all(".pcl-entry", figure)) entry.dataset.series = entry.textContent;
  const apply = () => {
    for (const e of all("[data-series]", figure)) {
      const hide = off.has(e.dataset.series);
      e.classList.toggle("off", hide);
      if (e.role === "button") e.ariaPressed = String(!hide);
    }
    for (const p of plots) p.list = null;
  };
  if (series.length > 1 && !all(".pcl-entry", figure).some(e => series.includes(e.dataset.series))) {
    const key = make("div", { className: "pcl-key" });
    for (const s of series) {
      const mark = figure.querySelector(`g[data-series="${CSS.escape(s)}"] :is(path,text)`);
      const swatch = make("i", { className: "pcl-swatch" }), entry = make("span", { className: "pcl-entry" }, swatch, s);
      swatch.style.background = ["fill", "stroke"].map(a => mark.closest(`[${a}]`)?.getAttribute(a)).find(Boolean);
      entry.dataset.series = s;
      key.append(entry);
    }
    figure.prepend(key);
  }
  for (const entry of all(".pcl-entry", figure)) {
    const s = entry.dataset.series;
    if (!series.includes(s)) continue;
    const toggle = alone => {
      if (alone) { off.clear(); for (const o of series) if (o !== s) off.add(o); }
      else if (!off.delete(s)) off.add(s);
      view.delete(name);
      for (const o of off) view.append(name, o);
      remember(".", "");
      apply();
    };
    Object.assign(entry, { role: "button", tabIndex: 0, title: "Click: on or off. Double click: alone.", onclick: () => toggle(), ondblclick: () => toggle(true),
      onpointerenter: () => light(s), onpointerleave: () => light(null), onfocus: () => light(s), onblur: () => light(null) });
    entry.onkeydown = e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); toggle(e.shiftKey); } };
  }
  apply();

  const tools = make("div", { className: "tools" }), file = figure.dataset.name || "figure";
  const button = (text, label, onclick) => tools.append(make("button", { type: "button", textContent: text, ariaLabel: label, onclick }));
  (async () => figure.values ?? unpack(figure.dataset.values).json())().then(({ data, series }) => {
    named.forEach((g, i) => { g.values = rowsOf(series[i]); });
    for (const p of plots) p.list = null;
    const heads = data.map(c => c[0]), rows = rowsOf(data), texts = rows.map(row => row.map(cell => String(cell ?? "")));
    if (heads.length) button("Table", "Show the data of the figure as a table", () => {
      const old = figure.querySelector(".data");
      if (old) return old.remove();
      const most = 1000, row = (cells, tag) => make("tr", {}, ...cells.map(c => make(tag, {}, c)));
      const table = make("table", {}, make("thead", {}, row(heads, "th")), make("tbody", {}, ...texts.slice(0, most).map(r => row(r, "td"))));
      figure.append(make("div", { className: "data scroll", tabIndex: 0, role: "region", ariaLabel: "Data of the figure" }, table, rows.length > most ? `The first ${most} of ${rows.length} rows; the CSV has all.` : ""));
    });
    if (heads.length) button("CSV", "Save the data of the figure as CSV", () => save(file + ".csv", "text/csv", csv([heads, ...texts])));
  }).then(() => button("SVG", "Save the figure as SVG", () => {
    const parts = all("svg", figure), style = figure.getAttribute("style"), svg = document.createElementNS(parts[0].namespaceURI, "svg");
    const boxes = parts.map(p => p.viewBox.baseVal), width = Math.max(...boxes.map(b => b.x + b.width)) + 40, height = Math.max(...boxes.map(b => b.y + b.height)) + 40;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("font-family", "Liberation Sans, Arial, sans-serif");
    for (const [name, value] of Object.entries({ fill: "none", "stroke-width": 5, "font-size": 90 })) svg.setAttribute(name, value);
    drawn("rect", { width, height, fill: "#fff" }, svg);
    for (const p of parts) for (const g of p.children) if (g.localName === "g") svg.append(g.cloneNode(true));
    for (const e of all(".off", svg)) e.remove();
    for (const entry of all(".pcl-entry:has(svg)", figure)) {
      const box = entry.firstChild.viewBox.baseVal;
      drawn("text", { x: box.x + box.width + 40, y: box.y + box.height - 40, fill: "#000" }, svg).textContent = entry.textContent;
    }
    const text = new XMLSerializer().serializeToString(svg);
    const colour = i => new RegExp(`--${i}:(?:light-dark\\()?(#[0-9a-f]+)`).exec(style)?.[1] ?? "#000";
    save(file + ".svg", "image/svg+xml", text.replace(/var\(--(\d+)\)/g, (_, i) => colour(i)));
  }));
  figure.append(tools);
};
Promise.all(framed).then(() => all("figure.pcl-figure").forEach(explore));
addEventListener("keydown", e => { if (e.key === "Escape") { light(null); say(null); } });

// Boxes that scroll can be reached by keys.
for (const [i, box] of all(".scroll,.out,.eq,pre,.text table,.out table").entries()) {
  if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) {
    box.tabIndex = 0;
    if (box.localName === "div") Object.assign(box, { role: "region", ariaLabel: box.ariaLabel ?? "Wide content " + (i + 1) });
  }
}
