// A text area that is as high as its text, up to what its style sheet allows.

export function grow(area) {
  const fit = () => {
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + 2}px`;
  };
  area.addEventListener("input", fit);
  // Only an element in the document has a height to measure.
  requestAnimationFrame(fit);
  return fit;
}
