// Axes relate the values of a plot to places in its drawing, of which a zoom may show a part.
class Axes {
  constructor(svg, x, y) {
    Object.assign(this, { svg, x: JSON.parse(x), y: JSON.parse(y), view: null });
    [this.left, this.top, this.width, this.height] = svg.dataset.box.split(" ").map(Number);
    this.whole = [this.left, this.top, this.left + this.width, this.top + this.height];
  }

  // place returns where values lie in the drawing as it is zoomed.
  place(x, y) {
    const share = (a, v) => a.Kind === "log" ? Math.log(v / a.Min) / Math.log(a.Max / a.Min) : (v - a.Min) / (a.Max - a.Min);
    return this.moved([this.left + this.width * share(this.x, x), this.top + this.height * (1 - share(this.y, y))]);
  }

  // moved returns where the zoom puts a place.
  moved([x, y]) {
    const [l, t, r, b] = this.view ?? this.whole;
    return [this.left + (x - l) / (r - l) * this.width, this.top + (y - t) / (b - t) * this.height];
  }

  // value writes a value of an axis.
  value(a, v) {
    if (a.Kind === "names" && a.Names?.length) {
      return a.Names.reduce((near, o) => Math.abs(o.At - v) < Math.abs(near.At - v) ? o : near).Name;
    }
    return a.Kind === "power" ? "10^" + digits(v) : digits(v);
  }

  // here returns the place under a pointer.
  here(e) {
    const at = this.svg.getScreenCTM().inverse();
    return [at.a * e.clientX + at.e, at.d * e.clientY + at.f];
  }
}
