// Boxes that scroll can be reached by keys.
for (const [i, box] of all(".scroll,.out,.eq,pre,.text table,.out table").entries()) {
  if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) {
    box.tabIndex = 0;
    if (box.localName === "div") Object.assign(box, { role: "region", ariaLabel: box.ariaLabel ?? "Wide content " + (i + 1) });
  }
}

// What a link leads to is unfolded.
const unfold = () => {
  const target = document.getElementById(location.hash.slice(1));
  for (let at = target?.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
};
addEventListener("hashchange", unfold);
unfold();
