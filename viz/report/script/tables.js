// Tables are sorted by a click on a head and filtered by words.

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

// A table with an id is filtered by words, and by what its rows say of their data.
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
