// ZoomedAxes show a part of their plot: a frame that is dragged, or what keys choose. A subclass is told
// by changed that things have moved.
class ZoomedAxes extends Axes {
  // begin, stretch and end drag a frame.
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

  // zoom shows a part of the data, or all of it: it moves what is drawn and draws the axes anew. Axes that
  // are not linear stay.
  zoom(view) {
    const linear = a => !a.Kind;
    if (view && !linear(this.x)) [view[0], , view[2]] = this.whole;
    if (view && !linear(this.y)) [, view[1], , view[3]] = this.whole;
    if (view && !linear(this.x) && !linear(this.y)) return;
    this.view = view;
    this.changed();
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

  // closer zooms around an item, or around the middle.
  closer(by, now) {
    const [l, t, r, b] = this.view ?? this.whole;
    const sx = now ? (now.x - this.left) / this.width : 0.5, sy = now ? (now.y - this.top) / this.height : 0.5;
    const x = l + sx * (r - l), y = t + sy * (b - t), w = (r - l) * by, h = (b - t) * by;
    this.zoom(w >= this.width ? null : [x - sx * w, y - sy * h, x + (1 - sx) * w, y + (1 - sy) * h]);
  }
}
