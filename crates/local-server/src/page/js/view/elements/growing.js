// A text area that grows with its text, up to the `max-height` of its style.

export function grow(area) {
  const fit = () => {
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + 2}px`;
  };
  area.addEventListener("input", fit);
  // Only an element in the document has a height.
  requestAnimationFrame(fit);
  return fit;
}
