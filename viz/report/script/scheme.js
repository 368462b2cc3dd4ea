// A button switches between light and dark. The browser keeps the choice, where it may.
const head = document.querySelector("header nav") ?? document.querySelector("header").appendChild(make("div", { className: "tools" }));
const scheme = head.appendChild(make("button", { type: "button", className: "switch" }));
const keep = value => { try { return value ? localStorage.setItem("scheme", value) : localStorage.getItem("scheme"); } catch { return null; } };
const dark = () => (document.documentElement.style.colorScheme || (matchMedia("(prefers-color-scheme:dark)").matches ? "dark" : "light")) === "dark";
const choose = value => {
  if (value) document.documentElement.style.colorScheme = value;
  scheme.textContent = dark() ? "Light" : "Dark";
};
choose(keep());
scheme.onclick = () => { choose(dark() ? "light" : "dark"); keep(dark() ? "dark" : "light"); };
