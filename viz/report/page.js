// Tables of a notebook sort like those of runs.
for (const th of document.querySelectorAll(".cell thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...th.childNodes);
  th.append(button);
  th.ariaSort = "none";
  th.closest("table").classList.add("sortable");
}

for (const button of document.querySelectorAll(".sortable th button")) button.onclick = () => {
  const th = button.closest("th"), row = th.parentNode, body = th.closest("table").tBodies[0];
  if (!body) return;
  const column = [...row.children].indexOf(th);
  const value = tr => {
    const td = tr.children[column], text = td?.dataset.sort ?? td?.textContent.trim() ?? "", number = parseFloat(text.replace("−", "-"));
    return isNaN(number) ? text : number;
  };
  const rows = [...body.rows], down = th.ariaSort === "none" ? rows.some(tr => typeof value(tr) === "number") : th.ariaSort === "ascending";
  for (const other of row.children) if (other.ariaSort) other.ariaSort = "none";
  th.ariaSort = down ? "descending" : "ascending";
  rows.sort((a, b) => {
    const x = value(a), y = value(b);
    if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
    const order = typeof x === "number" ? x - y : x.localeCompare(y);
    return down ? -order : order;
  });
  for (const tr of rows) body.append(tr);
};

// A slider of package nb: the names stand beside it, the pictures below; the one whose number it has shows.
for (const slider of document.querySelectorAll('[id^="pcl-slider-"] > div > input[type="range"]')) {
  const names = slider.nextElementSibling, pictures = slider.parentElement.nextElementSibling;
  if (!names || !pictures) continue;
  slider.oninput = () => {
    const at = +slider.value;
    for (const group of [names, pictures]) [...group.children].forEach((child, i) => { child.hidden = i !== at; child.style.display = ""; });
    slider.setAttribute("aria-valuetext", names.children[at]?.textContent ?? "");
  };
}

// A figure of package nb, with its name and files as text. Only the kinds below are made, with their own types,
// and they are only ever saved: the page never goes to them.
const drawn = /^data:image\/svg\+xml;base64,(.*)$/s;
const kinds = { SVG: "image/svg+xml", PDF: "application/pdf", CSV: "text/csv" };

for (const row of document.querySelectorAll(".cell .pcl-figure > .pcl-save")) {
  const part = name => row.querySelector(":scope > .pcl-" + name)?.textContent;
  const name = (part("name") ?? "").replace(/[^a-z0-9-]/g, "").slice(0, 60) || "figure";
  const sources = {
    SVG: () => drawn.exec(row.parentNode.querySelector(".pcl-light .pcl-wide")?.src)?.[1],
    PDF: () => part("pdf"),
    CSV: () => part("csv"),
  };
  for (const kind in kinds) {
    if (!sources[kind]()) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = kind;
    button.setAttribute("aria-label", "Save the figure as " + kind);
    button.onclick = async () => save(name + "." + kind.toLowerCase(), await file(kind, sources[kind]()));
    row.append(button);
  }
}

async function file(kind, base64) {
  const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
  if (kind === "PDF" && !String.fromCharCode(...bytes.slice(0, 5)).startsWith("%PDF-")) throw new Error("not a PDF");
  if (kind === "SVG") return new Blob([inert(new TextDecoder().decode(bytes))], { type: kinds.SVG });
  if (kind !== "CSV") return new Blob([bytes], { type: kinds[kind] });
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  // What a spreadsheet would take for a formula becomes a text.
  const safe = text.replace(/(^|[,"\r\n])([=@\t]|[+-](?![0-9.]))/g, "$1'$2");
  return new Blob([safe], { type: kinds.CSV });
}

// A drawing that is opened by itself would run what an <img> does not.
function inert(text) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml");
  for (const e of svg.querySelectorAll("*")) {
    for (const a of [...e.attributes]) if (/^on/i.test(a.name) || /^\s*javascript:/i.test(a.value)) e.removeAttributeNode(a);
    if (/^(script|foreignObject|animate.*|set)$/i.test(e.localName)) e.remove();
  }
  return new XMLSerializer().serializeToString(svg);
}

function save(name, blob) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(blob);
  a.download = name;
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}
