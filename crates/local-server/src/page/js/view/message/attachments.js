// Attachments: images, text previews, sound with a player, and a card with the size for all other files.

import { formatSize } from "../../text/time.js";
import { h } from "../elements/dom.js";
import { icon } from "../elements/icons.js";

const IMAGE = /^image\/(?:png|jpeg|gif|webp|avif)$/;
const SOUND = /\.(?:ogg|opus|mp3|m4a|wav|flac)$/i;
const TEXT =
  /\.(?:md|txt|json|jsonl|ya?ml|toml|csv|tsv|log|rs|js|ts|py|go|java|c|h|cpp|sh|sql|html|css|xml|ini|conf)$/i;
const PREVIEW_BYTES = 64 * 1024;
const PREVIEW_LINES = 8;
const SHOWN_WIDTH = 440;
const SHOWN_HEIGHT = 300;

export function renderAttachments(attachments) {
  if (!attachments?.length) return null;
  return h("div", { class: "attachments" }, attachments.map(renderAttachment));
}

function renderAttachment(file) {
  const url = sameOrigin(file.url);
  if (IMAGE.test(file.content_type ?? "")) return renderImage(file, url);
  if (TEXT.test(file.filename) && file.size <= PREVIEW_BYTES * 16) return renderText(file, url);
  if (SOUND.test(file.filename)) return renderSound(file, url);
  return h("div", { class: "file" }, caption(file, url));
}

/** The page may be open as localhost while the server's addresses use 127.0.0.1. */
export function sameOrigin(url) {
  const { pathname, search } = new URL(url, location.href);
  return pathname + search;
}

function caption(file, url) {
  return h(
    "div",
    { class: "caption" },
    icon("file"),
    h("span", { class: "filename", title: file.filename }, file.filename),
    h("span", { class: "size" }, formatSize(file.size)),
    h(
      "a",
      {
        class: "icon",
        href: url,
        download: file.filename,
        "aria-label": `Download ${file.filename}`,
        title: "Download",
      },
      icon("download"),
    ),
  );
}

function renderImage(file, url) {
  // Reserves space before the image is loaded, so that messages do not jump.
  const scale = Math.min(1, SHOWN_WIDTH / (file.width || SHOWN_WIDTH), SHOWN_HEIGHT / (file.height || SHOWN_HEIGHT));
  const size = file.width ? { width: Math.round(file.width * scale), height: Math.round(file.height * scale) } : {};
  const picture = h("img", { src: url, alt: file.description || file.filename, loading: "lazy", ...size });
  return h(
    "a",
    { class: "picture", href: url, target: "_blank", rel: "noopener noreferrer", title: file.filename },
    picture,
  );
}

function renderSound(file, url) {
  const player = h("audio", { controls: "", preload: "metadata", src: url, "aria-label": file.filename });
  return h("div", { class: "file" }, caption(file, url), player);
}

function renderText(file, url) {
  const code = h("code", { dir: "auto" }, "…");
  const pre = h("pre", { tabindex: "0", class: "preview" }, code);
  const expand = h("button", { type: "button", class: "quiet", "aria-expanded": "false" }, "Show all");
  expand.hidden = true;
  fetchPreview(url).then(
    (text) => {
      const lines = text.split("\n");
      const short = lines.slice(0, PREVIEW_LINES).join("\n");
      code.textContent = short;
      expand.hidden = lines.length <= PREVIEW_LINES;
      expand.addEventListener("click", () => {
        const open = expand.getAttribute("aria-expanded") !== "true";
        expand.setAttribute("aria-expanded", String(open));
        expand.textContent = open ? "Show less" : "Show all";
        code.textContent = open ? text : short;
      });
    },
    () => {
      code.textContent = "The file could not be read.";
    },
  );
  return h("div", { class: "file text" }, caption(file, url), pre, expand);
}

const previews = new Map();

/** Cached by address, because a changed message is rendered again. */
function fetchPreview(url) {
  if (!previews.has(url)) previews.set(url, fetchText(url));
  return previews.get(url);
}

async function fetchText(url) {
  const response = await fetch(url, { headers: { Range: `bytes=0-${PREVIEW_BYTES - 1}` } });
  if (!response.ok) {
    previews.delete(url);
    throw new Error(`the file could not be read: ${response.status}`);
  }
  return (await response.text()).slice(0, PREVIEW_BYTES).trimEnd();
}
