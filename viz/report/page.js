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
  const text = quoted(cell.replace("−", "-"));
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
    let n = 0;
    for (const tr of rows) {
      tr.hidden = fields.some(f => f.value && !f.fits(tr, f.value));
      if (!tr.hidden) n++;
    }
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

// The frames of a slider: the one whose number it has shows.
for (const frames of all(".pcl-frames")) {
  const slider = frames.querySelector("input"), pictures = [...frames.children].slice(1);
  if (slider) slider.oninput = () => {
    pictures.forEach((p, i) => { p.hidden = i !== +slider.value; });
    const label = pictures[+slider.value].dataset.label;
    frames.querySelector("output").textContent = label;
    slider.setAttribute("aria-valuetext", label);
  };
}

// A series lights up wherever it is drawn or named.
let lit = null;
const light = name => {
  if (name === lit) return;
  lit = name;
  for (const e of all("[data-series]")) e.classList.toggle("lit", e.dataset.series === name);
  for (const svg of all(".pcl-plot")) svg.classList.toggle("dimmed", !!name && all(".lit", svg).length > 0);
};
for (const tr of all("tr[data-series]")) {
  tr.onpointerenter = () => light(tr.dataset.series);
  tr.onpointerleave = () => light(null);
}

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

// absolute is a path with the places of all its points, which lower-case commands tell from where the pen is.
const absolute = d => {
  let pen = [0, 0];
  return d.replace(/([A-Za-z])([^A-Za-z]*)/g, (_, command, rest) => {
    const numbers = (rest.match(/-?[\d.]+/g) ?? []).map(Number), points = [], every = { c: 3, q: 2 }[command.toLowerCase()] ?? 1;
    for (let i = 0; i < numbers.length; i += 2) {
      points.push([0, 1].map(k => +(numbers[i + k] + (command > "Z" ? pen[k] : 0)).toFixed(1)));
      if (points.length % every === 0) pen = points.at(-1);
    }
    return command.toUpperCase() + points.map(p => p.join(" ")).join(" ");
  });
};

// A plot of a figure: its values, a pointer on them, and a zoom.
class Plot {
  constructor(svg) {
    Object.assign(this, { svg, x: JSON.parse(svg.dataset.x), y: JSON.parse(svg.dataset.y), view: null, at: -1 });
    const [left, top, width, height] = svg.dataset.box.split(" ").map(Number);
    Object.assign(this, { left, top, width, height });
    svg.tabIndex = 0;
    svg.addEventListener("pointermove", e => this.point(e));
    svg.addEventListener("pointerleave", () => this.choose(null));
    svg.addEventListener("blur", () => this.choose(null));
    svg.addEventListener("pointerdown", e => this.begin(e));
    svg.addEventListener("dblclick", () => this.zoom(null));
    svg.addEventListener("keydown", e => this.key(e));
  }

  // place turns a value into a place of the drawing as it is zoomed; it is one of axis a from low to low + size.
  place(a, value, low, size, upwards) {
    let share = a.Kind === "log" ? Math.log(value / a.Min) / Math.log(a.Max / a.Min) : (value - a.Min) / (a.Max - a.Min);
    return low + size * (upwards ? 1 - share : share);
  }

  // moved is where the zoom puts a place.
  moved([x, y]) {
    if (!this.view) return [x, y];
    const [l, t, r, b] = this.view;
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
    for (const g of all("[data-at],[data-say]", this.svg)) {
      if (g.classList.contains("off")) continue;
      const name = g.dataset.series ?? "";
      if (g.dataset.say) {
        const b = g.getBBox();
        this.list.push({ name, x: b.x + b.width / 2, y: b.y + b.height / 2, half: [b.width / 2, b.height / 2], text: (name && !g.dataset.say.startsWith(name) ? name + ": " : "") + g.dataset.say });
        continue;
      }
      for (const row of g.dataset.at.split(";").filter(Boolean)) {
        const [x, y, low, high] = row.split(" ").map(Number);
        const [px, py] = this.moved([this.place(this.x, x, this.left, this.width), this.place(this.y, y, this.top, this.height, true)]);
        if (px < this.left - 1 || px > this.left + this.width + 1 || py < this.top - 1 || py > this.top + this.height + 1) continue;
        const spread = low === undefined ? "" : ` (${this.value(this.y, low)} to ${this.value(this.y, high)})`;
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
    let best = null, least = 24;
    for (const item of this.items()) {
      const d = Math.hypot(Math.max(0, Math.abs(item.x - x) - item.half[0]), Math.max(0, Math.abs(item.y - y) - item.half[1]));
      if (d < least || d === least && best && item.half[0] < best.half[0]) [best, least] = [item, d];
    }
    this.choose(best);
  }

  choose(item) {
    this.ring?.remove();
    this.at = item ? this.items().indexOf(item) : -1;
    if (item && !item.half[0]) this.ring = drawn("circle", { cx: item.x, cy: item.y, r: 4, class: "pcl-ring" }, this.svg);
    light(item?.name || null);
    say(item, this.svg);
  }

  key(e) {
    const items = this.items(), now = items[this.at];
    let next;
    const beside = way => items.slice(...(way > 0 ? [this.at + 1] : [0, Math.max(0, this.at)]))[way > 0 ? "find" : "findLast"](i => !now || i.name === now.name);
    const others = way => {
      const names = [...new Set(items.map(i => i.name))], k = (names.indexOf(now?.name) + way + names.length) % names.length;
      return items.filter(i => i.name === names[k]).reduce((n, i) => !now || Math.abs(i.x - now.x) < Math.abs(n.x - now.x) ? i : n);
    };
    switch (e.key) {
      case "ArrowRight": next = beside(1); break;
      case "ArrowLeft": next = beside(-1); break;
      case "ArrowUp": next = items.length && others(1); break;
      case "ArrowDown": next = items.length && others(-1); break;
      case "+": case "-": this.closer(e.key === "+" ? 0.5 : 2, now); break;
      case "Escape": this.zoom(null); this.choose(null); break;
      default: return;
    }
    e.preventDefault();
    if (next) this.choose(next);
  }

  closer(by, now) {
    const [l, t, r, b] = this.view ?? [this.left, this.top, this.left + this.width, this.top + this.height];
    const sx = now ? (now.x - this.left) / this.width : 0.5, sy = now ? (now.y - this.top) / this.height : 0.5;
    const x = l + sx * (r - l), y = t + sy * (b - t), w = (r - l) * by, h = (b - t) * by;
    this.zoom(w >= this.width ? null : [x - sx * w, y - sy * h, x + (1 - sx) * w, y + (1 - sy) * h]);
  }

  // begin, stretch and end drag a frame; a click on a series switches it as its key does.
  begin(e) {
    const [x, y] = this.here(e);
    if (e.button || e.pointerType === "touch" || x < this.left || x > this.left + this.width || y < this.top || y > this.top + this.height) return;
    this.from = [x, y];
    this.frame = drawn("rect", { class: "pcl-frame" }, this.svg);
    this.svg.setPointerCapture(e.pointerId);
    this.svg.addEventListener("pointerup", up => this.end(up), { once: true });
    e.preventDefault();
    this.svg.focus({ preventScroll: true });
  }

  within(x, y) {
    const a = [x, y].map((v, i) => Math.max([this.left, this.top][i], Math.min([this.left + this.width, this.top + this.height][i], v)));
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
    if (r - l < 6 || b - t < 6) return;
    const [vl, vt, vr, vb] = this.view ?? [this.left, this.top, this.left + this.width, this.top + this.height];
    const x = v => vl + (v - this.left) / this.width * (vr - vl), y = v => vt + (v - this.top) / this.height * (vb - vt);
    this.zoom([x(l), y(t), x(r), y(b)]);
  }

  // zoom shows a part of the data, or all: it moves what is drawn, and draws the axes anew. Axes of names stay.
  zoom(view) {
    const linear = a => !a.Kind;
    if (view && !linear(this.x)) [view[0], view[2]] = [this.left, this.left + this.width];
    if (view && !linear(this.y)) [view[1], view[3]] = [this.top, this.top + this.height];
    if (view && !linear(this.x) && !linear(this.y)) return;
    this.view = view;
    this.list = null;
    this.choose(null);
    this.axes?.remove();
    this.svg.classList.toggle("zoomed", !!view);
    if (!this.clip) {
      const id = "clip" + all("clipPath").length, clip = drawn("clipPath", { id }, this.svg);
      drawn("rect", { x: this.left - 3, y: this.top - 3, width: this.width + 6, height: this.height + 6 }, clip);
      this.clip = `url(#${id})`;
    }
    for (const g of all(".pcl-in", this.svg)) {
      if (view) g.setAttribute("clip-path", this.clip); else g.removeAttribute("clip-path");
      for (const e of g.children) this.move(e);
    }
    if (view) this.ticks();
  }

  move(e) {
    if (e.localName === "path") {
      e.was ??= absolute(e.getAttribute("d"));
      const rigid = e.getAttribute("stroke-linecap") !== "round" && e.hasAttribute("fill");
      e.setAttribute("d", e.was.replace(/M[^M]*/g, part => {
        const points = part.match(/-?[\d.]+ -?[\d.]+/g).map(p => p.split(" ").map(Number));
        const [xs, ys] = [points.map(p => p[0]), points.map(p => p[1])];
        const middle = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
        const small = rigid && Math.max(...xs) - Math.min(...xs) < 10 && Math.max(...ys) - Math.min(...ys) < 10; // a marker
        const to = small && this.moved(middle);
        return part.replace(/-?[\d.]+ -?[\d.]+/g, p => {
          const at = p.split(" ").map(Number);
          return (small ? [at[0] - middle[0] + to[0], at[1] - middle[1] + to[1]] : this.moved(at)).map(v => v.toFixed(1)).join(" ");
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
    const [l, t, r, b] = this.view, right = this.left + this.width, bottom = this.top + this.height;
    this.axes = drawn("g", { class: "pcl-axes", "font-size": 9 }, this.svg);
    drawn("rect", { x: this.left, y: this.top, width: this.width, height: this.height }, this.axes);
    const along = (a, from, to, put) => {
      if (a.Kind) return;
      const step = 10 ** Math.floor(Math.log10((to - from) / 4)), s = step * [1, 2, 5, 10].find(m => (to - from) / (m * step) <= 6);
      for (let v = Math.ceil(from / s) * s; v <= to + s / 1e6; v += s) put(v, digits(Math.round(v / s) * s));
    };
    const value = (a, share) => a.Min + share * (a.Max - a.Min);
    along(this.x, value(this.x, (l - this.left) / this.width), value(this.x, (r - this.left) / this.width), (v, text) => {
      const [x] = this.moved([this.place(this.x, v, this.left, this.width), 0]);
      drawn("path", { d: `M${x} ${bottom}v3` }, this.axes);
      drawn("text", { x, y: bottom + 12, "text-anchor": "middle" }, this.axes).textContent = text;
    });
    along(this.y, value(this.y, (bottom - b) / this.height), value(this.y, (bottom - t) / this.height), (v, text) => {
      const [, y] = this.moved([0, this.place(this.y, v, this.top, this.height, true)]);
      drawn("path", { d: `M${this.left} ${y}h-3` }, this.axes);
      drawn("text", { x: this.left - 5, y: y + 3, "text-anchor": "end" }, this.axes).textContent = text;
    });
  }
}

// unpacked is a text that a figure holds compressed.
const unpacked = async text => { // rejected where the browser cannot
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
};

// A figure: its key switches series and brings them forward, and its data can be seen and saved.
all("figure.pcl-figure").forEach((figure, number) => {
  const plots = all(".pcl-plot", figure).map(svg => new Plot(svg));
  const series = [...new Set(all("g[data-series]", figure).map(g => g.dataset.series))].filter(n => n);
  const name = "off" + number, off = new Set(view.getAll(name));
  const apply = () => {
    for (const e of all("[data-series]", figure)) {
      const hide = off.has(e.dataset.series);
      e.classList.toggle("off", hide);
      if (e.role === "button") e.ariaPressed = String(!hide);
    }
    for (const p of plots) p.list = null;
  };
  if (figure.dataset.at) unpacked(figure.dataset.at).then(text => { // the values of its series, a line for each
    const lines = text.split("\n");
    all("g[data-at]", figure).forEach((g, i) => { g.dataset.at = lines[i]; });
    for (const p of plots) p.list = null;
  }).catch(() => {});
  let key = figure.querySelector(".pcl-key");
  if (series.length > 1 && !all(".pcl-entry", figure).some(e => series.includes(e.dataset.series))) {
    key = make("div", { className: "pcl-key" });
    for (const s of series) {
      const mark = figure.querySelector(`g[data-series="${CSS.escape(s)}"] :is(path,text)`);
      const swatch = make("i", { className: "pcl-swatch" }), entry = make("span", { className: "pcl-entry" }, swatch, s);
      swatch.style.background = mark.getAttribute("fill") ?? mark.getAttribute("stroke");
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
  const data = () => unpacked(figure.dataset.csv);
  if (figure.dataset.csv) {
    button("Table", "Show the data of the figure as a table", async () => {
      const old = figure.querySelector(".data");
      if (old) return old.remove();
      const rows = (await data()).trimEnd().split("\n").map(line => (line.match(/("([^"]|"")*"|[^,]*)(,|$)/g) ?? []).map(c => c.replace(/,$/, "").replace(/^"|"$/g, "").replaceAll('""', '"')));
      const n = rows[0].length, most = 1000, row = (cells, tag) => make("tr", {}, ...cells.slice(0, n).map(c => make(tag, {}, c)));
      const table = make("table", {}, make("thead", {}, row(rows[0], "th")), make("tbody", {}, ...rows.slice(1, most + 1).map(r => row(r, "td"))));
      figure.append(make("div", { className: "data scroll", tabIndex: 0, role: "region", ariaLabel: "Data of the figure" }, table, rows.length > most + 1 ? `The first ${most} of ${rows.length - 1} rows; the CSV has all.` : ""));
    });
    button("CSV", "Save the data of the figure as CSV", async () => save(file + ".csv", "text/csv", (await data()).replace(/(^|[,"\r\n])([=@\t]|[+-](?![0-9.]))/g, "$1'$2")));
  }
  button("SVG", "Save the figure as SVG", () => {
    const parts = all("svg", figure), style = figure.getAttribute("style"), svg = document.createElementNS(parts[0].namespaceURI, "svg");
    const boxes = parts.map(p => p.viewBox.baseVal), width = Math.max(...boxes.map(b => b.x + b.width)) + 4, height = Math.max(...boxes.map(b => b.y + b.height)) + 4;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("font-family", "Liberation Sans, Arial, sans-serif");
    for (const name of ["fill", "font-size"]) svg.setAttribute(name, plots[0].svg.getAttribute(name));
    drawn("rect", { width, height, fill: "#fff" }, svg);
    for (const p of parts) for (const g of p.children) if (g.localName === "g" && !g.classList.contains("off")) svg.append(g.cloneNode(true));
    for (const entry of all(".pcl-entry:has(svg)", figure)) {
      const box = entry.firstChild.viewBox.baseVal;
      drawn("text", { x: box.x + box.width + 4, y: box.y + box.height - 4, fill: "#000" }, svg).textContent = entry.textContent;
    }
    const text = new XMLSerializer().serializeToString(svg);
    const colour = i => new RegExp(`--${i}:(?:light-dark\\()?(#[0-9a-f]+)`).exec(style)?.[1] ?? "#000";
    save(file + ".svg", "image/svg+xml", text.replace(/var\(--(\d+)\)/g, (_, i) => colour(i)));
  });
  figure.append(tools);
});
addEventListener("keydown", e => { if (e.key === "Escape") { light(null); say(null); } });

// Boxes that scroll can be reached by keys.
for (const [i, box] of all(".scroll,.out,.eq,pre,.text table,.out table").entries()) {
  if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) {
    box.tabIndex = 0;
    if (box.localName === "div") Object.assign(box, { role: "region", ariaLabel: box.ariaLabel ?? "Wide content " + (i + 1) });
  }
}
