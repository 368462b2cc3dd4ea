// Short forms that the other files use. Whoever runs them says what they are about: root, the page or an
// output of a notebook; outside, where the words under the pointer stand; view and remember, what a reader
// has chosen; unpack, the inverse of viz.Pack.
const all = (query, at = root) => [...at.querySelectorAll(query)];
const make = (tag, properties, ...children) => {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
};
const drawn = (tag, attributes, parent) => {
  const e = document.createElementNS(parent.namespaceURI, tag);
  for (const name in attributes) e.setAttribute(name, attributes[name]);
  return parent.appendChild(e);
};

// digits writes a number with at most four digits.
const digits = x => String(+x.toPrecision(4)).replace("-", "−").replace(/e\+?/, "·10^");
