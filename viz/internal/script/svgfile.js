// svgFile returns a figure of the page as an SVG file in the colours of paper, without the series that
// are off.
const svgFile = figure => {
  const parts = all("svg", figure), style = figure.getAttribute("style");
  const svg = document.createElementNS(parts[0].namespaceURI, "svg"), boxes = parts.map(p => p.viewBox.baseVal);
  const width = Math.max(...boxes.map(b => b.x + b.width)) + 40, height = Math.max(...boxes.map(b => b.y + b.height)) + 40;
  const attributes = {
    viewBox: `0 0 ${width} ${height}`, "font-family": "Liberation Sans, Arial, sans-serif",
    fill: "none", "stroke-width": 5, "font-size": 90,
  };
  for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
  drawn("rect", { width, height, fill: "#fff" }, svg);
  for (const p of parts) for (const g of p.children) if (g.localName === "g") svg.append(g.cloneNode(true));
  for (const e of all(".off", svg)) e.remove();
  for (const entry of all(".pcl-entry:has(svg)", figure)) {
    const box = entry.firstChild.viewBox.baseVal;
    drawn("text", { x: box.x + box.width + 40, y: box.y + box.height - 40, fill: "#000" }, svg).textContent = entry.textContent;
  }
  const colour = i => new RegExp(`--${i}:(?:light-dark\\()?(#[0-9a-f]+)`).exec(style)?.[1] ?? "#000";
  return new XMLSerializer().serializeToString(svg).replace(/var\(--(\d+)\)/g, (_, i) => colour(i));
};
