// The key of a figure switches its series and brings them forward. What is off stands in the address.

// madeKey adds a key to a figure that names its series in another way.
const madeKey = (figure, series) => {
  const key = make("div", { className: "pcl-key" }), painted = new Map(); // the series drawn in each colour
  const colours = s => all(`g[data-series="${CSS.escape(s)}"] :is(path,text)`, figure)
    .map(mark => ["fill", "stroke"].map(a => mark.closest(`[${a}]`)?.getAttribute(a)).find(Boolean));
  for (const s of series) for (const c of new Set(colours(s))) painted.set(c, (painted.get(c) ?? 0) + 1);
  for (const s of series) {
    const swatch = make("i", { className: "pcl-swatch" }); // in the colour that is most its own
    swatch.style.background = colours(s).reduce((own, c) => painted.get(c) < painted.get(own) ? c : own);
    key.append(make("span", { className: "pcl-entry" }, swatch, s));
  }
  figure.prepend(key);
};

// switchSeries makes buttons of the entries. It calls changed when a series was switched.
const switchSeries = (figure, name, changed) => {
  const series = [...new Set(all("g[data-series]", figure).map(g => g.dataset.series))];
  const named = () => all(".pcl-entry", figure).filter(e => series.includes(e.textContent));
  if (series.length > 1 && !named().length) madeKey(figure, series);
  const off = new Set(view.getAll(name));
  const apply = () => {
    for (const e of all("[data-series]", figure)) {
      const hide = off.has(e.dataset.series);
      e.classList.toggle("off", hide);
      if (e.role === "button") e.ariaPressed = String(!hide);
    }
    changed();
  };
  for (const entry of named()) {
    const s = entry.dataset.series = entry.textContent;
    const toggle = alone => {
      if (alone) { off.clear(); for (const o of series) if (o !== s) off.add(o); }
      else if (!off.delete(s)) off.add(s);
      view.delete(name);
      for (const o of off) view.append(name, o);
      remember(".", "");
      apply();
    };
    Object.assign(entry, {
      role: "button", tabIndex: 0, title: "Click: on or off. Double click: alone.",
      onclick: () => toggle(), ondblclick: () => toggle(true),
      onpointerenter: () => light(s), onpointerleave: () => light(null), onfocus: () => light(s), onblur: () => light(null),
    });
    entry.onkeydown = e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); toggle(e.shiftKey); } };
  }
  apply();
};
