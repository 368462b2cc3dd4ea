// What a reader has chosen stands in the address behind "#?", so that a view can be sent: filters, a
// sorted column, series that are switched off.
const view = new URLSearchParams(location.hash.startsWith("#?") ? location.hash.slice(2) : "");
const remember = (name, value) => {
  if (value) view.set(name, value); else view.delete(name);
  history.replaceState(null, "", String(view) ? "#?" + view : location.pathname + location.search);
};

// Code is shown or hidden, on paper too.
if (all(".code").length) {
  const code = head.appendChild(make("button", { type: "button", className: "switch" }));
  const show = () => {
    document.body.classList.toggle("nocode", view.has("nocode"));
    code.textContent = view.has("nocode") ? "Show code" : "Hide code";
  };
  code.onclick = () => { remember("nocode", !view.has("nocode") && "1"); show(); };
  show();
}
