// Creates elements. Strings always become text nodes, so message content never becomes markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * `h("button", { class: "quiet", onclick: send, vars: { "--tone": "#abc" } }, "Send")`.
 * Keys that start with `on` are listeners, `vars` are CSS custom properties (the content
 * security policy forbids style attributes), `false`, `null` and `undefined` leave an attribute out.
 */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG elements, which have their own namespace. */
export function s(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "vars") for (const [name, set] of Object.entries(value)) element.style.setProperty(name, set);
    else if (key === "data") Object.assign(element.dataset, value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Text for screen readers only. */
export function hidden(text) {
  return h("span", { class: "sr-only" }, text);
}

/** A button with an icon and an accessible name. */
export function iconButton(icon, label, onclick, extra = {}) {
  return h("button", { type: "button", class: "icon", "aria-label": label, title: label, onclick, ...extra }, icon);
}
