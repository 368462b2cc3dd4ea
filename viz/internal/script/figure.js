// explore makes a figure answer: its plots to a pointer and keys, its key to clicks. Its data can be seen
// and saved.
const explore = async (figure, number) => {
  let x, y; // axes like those of the plot before stand once
  const plots = all(".pcl-plot", figure).map(svg => new Plot(svg, x = svg.dataset.x ?? x, y = svg.dataset.y ?? y));
  const changed = () => { for (const p of plots) p.list = null; };
  switchSeries(figure, "off" + number, changed);
  const tools = figure.appendChild(make("div", { className: "tools" })), file = figure.dataset.name || "figure";
  const button = (textContent, ariaLabel, onclick) => {
    tools.append(make("button", { type: "button", textContent, ariaLabel, onclick }));
  };
  const { data, series } = await numbersOf(figure);
  all("g[data-series]", figure).forEach((g, i) => { g.values = rowsOf(series[i]); });
  changed();
  if (data.length) {
    const heads = data.map(c => c[0]), rows = rowsOf(data).map(row => row.map(cell => String(cell ?? "")));
    button("Table", "Show the data of the figure as a table", () => toggleData(figure, heads, rows));
    button("CSV", "Save the data of the figure as CSV", () => save(file + ".csv", "text/csv", csv([heads, ...rows])));
  }
  button("SVG", "Save the figure as SVG", () => save(file + ".svg", "image/svg+xml", svgFile(figure)));
};

// toggleData shows the data of a figure below it, or hides them.
const toggleData = (figure, heads, rows) => {
  const old = figure.querySelector(".data"), most = 1000;
  if (old) return old.remove();
  const row = (cells, tag) => make("tr", {}, ...cells.map(c => make(tag, {}, c)));
  const body = rows.slice(0, most).map(r => row(r, "td"));
  const table = make("table", {}, make("thead", {}, row(heads, "th")), make("tbody", {}, ...body));
  const rest = rows.length > most ? `The first ${most} of ${rows.length} rows; the CSV has all.` : "";
  const box = { className: "data scroll", tabIndex: 0, role: "region", ariaLabel: "Data of the figure" };
  figure.append(make("div", box, table, rest));
};

Promise.all(framed).then(() => all("figure.pcl-figure").forEach(explore));
root.addEventListener("keydown", e => { if (e.key === "Escape") { light(null); say(null); } });
