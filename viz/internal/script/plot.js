// Plot answers a pointer and keys: it shows what can be pointed at, and zooms.
class Plot extends ZoomedAxes {
  constructor(svg, x, y) {
    super(svg, x, y);
    this.at = -1; // the number of the chosen item
    svg.tabIndex = 0;
    const on = {
      pointermove: e => this.point(e), pointerdown: e => this.begin(e), pointerleave: () => this.choose(null),
      blur: () => this.choose(null), dblclick: () => this.zoom(null), keydown: e => this.key(e),
    };
    for (const kind in on) svg.addEventListener(kind, on[kind]);
  }

  // changed forgets where items lay.
  changed() {
    this.list = null;
    this.choose(null);
  }

  // items returns all that can be pointed at, by series.
  items() {
    if (this.list) return this.list;
    this.list = [];
    for (const g of all("g[data-series],g[data-say]", this.svg)) {
      if (g.classList.contains("off")) continue;
      const name = g.dataset.series ?? "";
      if (g.dataset.say) {
        const b = g.getBBox();
        const half = [b.width / 2, b.height / 2], told = name && !g.dataset.say.startsWith(name) ? name + ": " : "";
        this.list.push({ name, x: b.x + half[0], y: b.y + half[1], half, text: told + g.dataset.say });
        continue;
      }
      for (const [x, y, low, high] of g.values ?? []) {
        const [px, py] = this.place(x, y), [l, t, r, b] = this.whole;
        if (px < l - 10 || px > r + 10 || py < t - 10 || py > b + 10) continue;
        const spread = low == null ? "" : ` (${this.value(this.y, low)} to ${this.value(this.y, high)})`;
        const told = (axis, fallback, v) => `${axis.Label || fallback}: ${this.value(axis, v)}`;
        const text = [name, told(this.x, "x", x), told(this.y, "y", y) + spread].join("\n");
        this.list.push({ name, x: px, y: py, half: [0, 0], text });
      }
    }
    return this.list;
  }

  // point chooses the item nearest to a pointer, or stretches the frame that it drags.
  point(e) {
    const [x, y] = this.here(e);
    if (this.from) return this.stretch(x, y);
    let best = null, least = 240;
    for (const item of this.items()) {
      const beyond = (from, to, half) => Math.max(0, Math.abs(from - to) - half);
      const d = Math.hypot(beyond(item.x, x, item.half[0]), beyond(item.y, y, item.half[1]));
      if (d < least || d === least && best && item.half[0] < best.half[0]) [best, least] = [item, d];
    }
    this.choose(best);
  }

  // choose shows an item, or none.
  choose(item) {
    this.ring?.remove();
    this.at = item ? this.items().indexOf(item) : -1;
    if (item && !item.half[0]) this.ring = drawn("circle", { cx: item.x, cy: item.y, r: 40, class: "pcl-ring" }, this.svg);
    light(item?.name || null);
    say(item, this.svg);
  }

  // key moves along a series by left and right, between series by up and down, and zooms.
  key(e) {
    const items = this.items(), now = items[this.at];
    const beside = way => items.slice(...(way > 0 ? [this.at + 1] : [0, Math.max(0, this.at)]))[way > 0 ? "find" : "findLast"](i => !now || i.name === now.name);
    const others = way => {
      const names = [...new Set(items.map(i => i.name))];
      const k = (names.indexOf(now?.name) + way + names.length) % names.length;
      const nearer = (n, i) => !now || Math.abs(i.x - now.x) < Math.abs(n.x - now.x) ? i : n;
      return items.filter(i => i.name === names[k]).reduce(nearer);
    };
    const act = {
      ArrowRight: () => beside(1), ArrowLeft: () => beside(-1),
      ArrowUp: () => items.length && others(1), ArrowDown: () => items.length && others(-1),
      "+": () => this.closer(0.5, now), "-": () => this.closer(2, now),
      Escape: () => { this.zoom(null); this.choose(null); },
    }[e.key];
    if (!act) return;
    e.preventDefault();
    const next = act();
    if (next) this.choose(next);
  }
}
