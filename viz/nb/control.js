// Makes controls of words, once the kernel answers. It looks for the kernel as long as the words stand there.
((at, controls) => {
  KEYS
  const begun = performance.now(), words = [...at.children], note = words.pop();
  const make = (tag, properties, ...children) => {
    const e = Object.assign(document.createElement(tag), properties);
    e.append(...children);
    return e;
  };
  // bind returns an element for a control. say tells the kernel where it stands, and put moves it there.
  const kinds = {
    button: (c, say) => ({ element: make("button", { type: "button", textContent: c.Label, onclick: () => say(0) }), put() {} }),
    range: (c, say) => {
      const input = make("input", { type: "range", min: c.Min, max: c.Max, step: c.Step }), text = make("output");
      const place = () => Math.round((input.value - c.Min) / c.Step), tell = () => { text.textContent = +(+input.value).toPrecision(12); };
      input.oninput = () => { tell(); say(place()); };
      input.style.cssText = "width:20em;max-width:60%;vertical-align:middle";
      return { element: make("label", {}, c.Label + " ", input, " ", text), put(p) { input.value = c.Min + p * c.Step; tell(); } };
    },
    choice: (c, say) => {
      const select = make("select", {}, ...c.Choices.map(t => make("option", {}, t)));
      select.onchange = () => say(select.selectedIndex);
      return { element: make("label", {}, c.Label + " ", select), put(p) { select.selectedIndex = p; } };
    },
  };
  let comm;
  const lost = () => { at.replaceChildren(...words, note); comm = null; };
  const bind = (c, i) => {
    const here = comm;
    let turn = 0, control;
    const say = place => {
      if (globalThis.gonb_comm !== here) return lost();
      turn = Math.max(turn + 1, Math.round(performance.now() - begun));
      here.send(c.Address, turn * PLACES + place);
    };
    here.subscribe(c.Address, (_, place) => {
      if (!control) {
        control = kinds[c.Kind](c, say);
        words[i].replaceWith(control.element, " ");
        note.remove();
      }
      control.put(place);
    });
    here.send(c.Address, 1); // the kernel answers with the place
  };
  const look = () => {
    if (!comm && globalThis.gonb_comm) { comm = globalThis.gonb_comm; controls.forEach(bind); }
    if (at.isConnected || performance.now() - begun < 60000) setTimeout(look, 300);
  };
  leaveKeys(at);
  look();
})(document.currentScript.parentElement.querySelector(".pcl-controls"), CONTROLS);
