// A picture stands in a page once: where it is shown again, it is copied from there.
for (const img of all("img[data-as]")) img.src = root.querySelector(`img[data-picture="${img.dataset.as}"]`).src;

// A slider shows one frame of a figure. The page has the others packed (viz.Frames.HTML).
const framed = all(".pcl-frames").map(async frames => {
  const [slider, output, shown] = frames.querySelectorAll("input,output,div");
  const { Labels, HTML, Values } = await unpack(frames.dataset.frames).json();
  const pictures = HTML.map(html => html ? make("div", { innerHTML: html, hidden: true }) : shown);
  pictures.forEach((p, i) => { p.firstChild.values = Values[i]; });
  frames.append(...pictures);
  slider.oninput = () => {
    pictures.forEach((p, i) => { p.hidden = i !== +slider.value; });
    output.textContent = slider.ariaValueText = Labels[+slider.value];
  };
});
