// Checks of contrast and sizes. These functions run inside the page, so each is self-contained.

/** Texts whose contrast with what is behind them is below WCAG AA (4.5, or 3 for large text). */
export function findWeakContrast() {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  // Any CSS colour, painted over white, as red, green, blue and its opacity.
  const parse = (color) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return { r, g, b, a: a / 255 };
  };
  const over = (top, below) => ({
    r: top.r * top.a + below.r * (1 - top.a),
    g: top.g * top.a + below.g * (1 - top.a),
    b: top.b * top.a + below.b * (1 - top.a),
    a: 1,
  });
  const background = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), { r: 255, g: 255, b: 255, a: 1 });
  };
  const luminance = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((value) =>
      value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const weak = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (
      !own ||
      !element.checkVisibility({ visibilityProperty: true }) ||
      element.closest("svg, .sr-only, .spoiler:not(.shown)")
    )
      continue;
    const style = getComputedStyle(element);
    const below = background(element);
    const text = over(parse(style.color), below);
    const [light, dark] = [luminance(text), luminance(below)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const large =
      parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5))
      weak.push(
        `${element.tagName.toLowerCase()}.${element.className} “${element.textContent.trim().slice(0, 20)}” ${ratio.toFixed(2)}`,
      );
  }
  return weak;
}

/** Visible controls among `controls`, a selector, that are lower than the 44 px a finger needs. Words inside a text are exempt. */
export function findSmallTargets(controls) {
  const small = [];
  for (const element of document.querySelectorAll(controls)) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    const { width, height } = element.getBoundingClientRect();
    if (Math.min(width, height) < 43.5)
      small.push(`${element.className || element.tagName} ${Math.round(width)}×${Math.round(height)}`);
  }
  return small;
}
