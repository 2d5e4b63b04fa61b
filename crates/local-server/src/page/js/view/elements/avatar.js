// Avatars: the account's picture, its emoji, or one drawn from its id and name. A rounded square for personas, a circle for people.

import { h, s } from "./dom.js";

const SHAPES = [
  "M0 40V18a22 22 0 0 1 22 22z",
  "M40 0v22A22 22 0 0 1 18 0z",
  "M0 40 40 0v40z",
  "M0 26h40v14H0z",
  "M40 40H14l26-26z",
  "M20 8a16 16 0 1 0 0 32 16 16 0 0 0 0-32z",
];

/** A hash of a string (FNV-1a), for stable colours and shapes. */
export function hash(text) {
  let value = 0x811c9dc5;
  for (const char of String(text)) value = Math.imul(value ^ char.codePointAt(0), 0x01000193) >>> 0;
  return value;
}

/** An account's colour: that of its role, or one generated from its id. */
export function toneOf(person) {
  if (person.color) return `#${person.color.toString(16).padStart(6, "0")}`;
  return `oklch(0.6 0.12 ${hash(person.id) % 360})`;
}

export function avatar(person, className = "avatar") {
  if (person.sign && canShowEmojis())
    return h("span", { class: `${className} persona sign`, "aria-hidden": "true", data: { sign: person.sign } }, person.sign);
  if (!person.picture) return draw(person, className);
  const picture = h("img", {
    class: person.bot ? `${className} persona` : className,
    src: `/avatars/${person.id}/${person.picture}.png`,
    alt: "",
    "aria-hidden": "true",
    // The sandbox does not fetch pictures of other hosts.
    onerror: () => picture.replaceWith(draw(person, className)),
  });
  return picture;
}

let emojisAreShown = null;

/** Whether a font with emojis is there. Without one they are all the same box. */
function canShowEmojis() {
  if (emojisAreShown === null) {
    const canvas = h("canvas", { width: 16, height: 16 }).getContext("2d");
    canvas.font = "14px sans-serif";
    canvas.fillText("🔵", 0, 13);
    const pixels = canvas.getImageData(0, 0, 16, 16).data;
    emojisAreShown = pixels.some((value, at) => at % 4 === 2 && value > pixels[at - 2] + 40);
  }
  return emojisAreShown;
}

function draw(person, className) {
  const initial = [...(person.name || "?").trim()][0]?.toUpperCase() ?? "?";
  const picture = s(
    "svg",
    {
      class: person.bot ? `${className} persona` : className,
      viewBox: "0 0 40 40",
      "aria-hidden": "true",
      focusable: "false",
      data: person.sign ? { sign: person.sign } : {},
      vars: { "--tone": toneOf(person) },
    },
    s("rect", { class: "ground", width: 40, height: 40 }),
  );
  if (person.bot)
    picture.append(s("path", { class: "motif", d: SHAPES[hash(person.id + person.name) % SHAPES.length] }));
  picture.append(s("text", { x: 20, y: 20.5, "text-anchor": "middle", "dominant-baseline": "central" }, initial));
  return picture;
}
