// Line icons on a 20 px grid. They are inline, so that the page loads nothing from elsewhere.

import { s } from "./dom.js";

const PATHS = {
  hash: "M7 3 5 17M14 3l-2 14M3.5 7.5h14M2.5 12.5h14",
  thread: "M4 4h12v8H9l-4 4v-4H4z",
  at: "M13 10a3 3 0 1 1-6 0 3 3 0 0 1 6 0zm0 0v1.2a2 2 0 0 0 4 0V10a7 7 0 1 0-3 5.7",
  menu: "M3 5h14M3 10h14M3 15h14",
  people:
    "M7.5 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 17c0-3 2.5-5 5.5-5s5.5 2 5.5 5M13 3.3a3 3 0 0 1 0 5.4M15 12.3c1.8.7 3 2.4 3 4.7",
  close: "m5 5 10 10M15 5 5 15",
  send: "M3 10 17 3l-4 14-3.5-5.5zM9.5 11.5 17 3",
  attach: "m16 9-6.5 6.5a4 4 0 0 1-5.7-5.7l7-7a2.7 2.7 0 0 1 3.8 3.8l-6.8 6.8a1.3 1.3 0 0 1-1.9-1.9L12 5.5",
  smile: "M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0zM7 12c1.5 2 4.5 2 6 0M7.5 8v.2M12.5 8v.2",
  reply: "M8 5 3 10l5 5M3 10h8c3.5 0 6 2 6 6",
  edit: "m4 13 9-9 3 3-9 9H4zM11 6l3 3",
  trash: "M4 6h12M8 6V4h4v2M6 6l.7 10h6.6L14 6",
  copy: "M7 7h9v9H7zM4 13V4h9",
  down: "M10 4v12M5 11l5 5 5-5",
  chevron: "m8 5 5 5-5 5",
  download: "M10 3v9M6 8.5l4 4 4-4M4 16h12",
  file: "M5 3h7l3 3v11H5zM12 3v3h3",
  contrast: "M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0zM10 3v14M10 5.5l4 1.5M10 9h6.5M10 12.5h6M10 16l3-.5",
  help: "M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0zM8 8a2 2 0 1 1 2.8 1.8c-.6.3-.8.7-.8 1.4M10 13.7v.2",
  search: "M13 8.5a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0zM12 12l4.5 4.5",
  slash: "M12.5 3.5l-5 13M3 3h14v14H3z",
  retry: "M16 10a6 6 0 1 1-1.8-4.3M16 3v4h-4",
};

/** A decorative icon. Its button has the label. */
export function icon(name) {
  return s(
    "svg",
    { class: "glyph", viewBox: "0 0 20 20", "aria-hidden": "true", focusable: "false" },
    s("path", { d: PATHS[name] }),
  );
}
