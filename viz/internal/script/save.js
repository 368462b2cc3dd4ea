// save gives the reader a file.
const save = (name, type, content) => {
  const a = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
};

// quoted puts an apostrophe before a text that a spreadsheet could take for a formula, as Go's
// internal/csvcell does.
const quoted = text => {
  const number = text.trim() !== "" && !isNaN(text);
  return !number && /^['"\s\p{C}]*(?:[\t\r\n]|[-=+@＝＋－＠])/u.test(text) ? "'" + text : text;
};
const csv = rows => rows.map(row => row.map(cell => {
  const text = quoted(cell.replace(/^−(?=[\d.])/, "-"));
  return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}).join(",") + "\n").join("");

// words returns the text of an element on one line.
const words = e => e.innerText.trim().replace(/\s+/g, " ");
