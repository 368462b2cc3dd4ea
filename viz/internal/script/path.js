// absolute returns a path, as viz/svgpath.go writes it, with the places of its points instead of their
// distances, so that a zoom can move each of them.
const absolute = d => {
  let pen = [0, 0], begun;
  return d.replace(/([A-Za-z])([^A-Za-z]*)/g, (_, command, rest) => {
    const numbers = (rest.match(/-?\d+/g) ?? []).map(Number), points = [], every = { h: 1, v: 1, c: 6, q: 4 }[command] ?? 2;
    for (let i = 0; i < numbers.length; i += every) {
      const by = { h: [numbers[i], 0], v: [0, numbers[i]] }[command] ?? numbers.slice(i, i + every), [x, y] = pen;
      for (let k = 0; k < by.length; k += 2) points.push(pen = [x + by[k], y + by[k + 1]]);
    }
    if (command === "Z") pen = begun;
    if (command === "M" || command === "m") begun = pen;
    return ({ h: "L", v: "L" }[command] ?? command.toUpperCase()) + points.map(p => p.join(" ")).join(" ");
  });
};
