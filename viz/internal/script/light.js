// A series lights up wherever it is drawn or named.
let lit = null;
const light = name => {
  if (name === lit) return;
  lit = name;
  for (const e of all("[data-series]")) e.classList.toggle("lit", e.dataset.series === name);
  for (const svg of all(".pcl-plot")) svg.classList.toggle("dimmed", !!name && all(".lit", svg).length > 0);
};
for (const tr of all("tr[data-series]")) {
  Object.assign(tr, { onpointerenter: () => light(tr.dataset.series), onpointerleave: () => light(null) });
}

// say shows what an item under the pointer tells.
const tip = outside.pclTip ??= outside.appendChild(make("div", { id: "pcl-tip", role: "status", hidden: true }));
const say = (item, svg) => {
  tip.hidden = !item;
  if (!item) return;
  tip.textContent = item.text;
  const at = svg.getScreenCTM(), x = at.a * item.x + at.e + scrollX, y = at.d * item.y + at.f + scrollY;
  tip.style.left = Math.max(4, Math.min(x + 12, scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8)) + "px";
  tip.style.top = (y - tip.offsetHeight - 12 < scrollY ? y + 16 : y - tip.offsetHeight - 12) + "px";
};
