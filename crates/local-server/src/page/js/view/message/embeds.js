// Embeds, as cards with a coloured edge. Only images of this server are shown, because the page loads nothing from
// elsewhere.

import { renderMarkdown } from "../../text/render.js";
import { formatTime } from "../../text/time.js";
import { h } from "../elements/dom.js";
import { sameOrigin } from "./attachments.js";

export function renderEmbeds(embeds, names) {
  return (embeds ?? []).map((embed) => renderEmbed(embed, names));
}

function renderEmbed(embed, names) {
  const tone = embed.color ? { "--tone": `#${embed.color.toString(16).padStart(6, "0")}` } : {};
  const author = embed.author && h("div", { class: "embed-author" }, embed.author.name);
  const title = embed.title && h("div", { class: "embed-title" }, linked(embed.title, embed.url, names));
  const description = embed.description && renderMarkdown(embed.description, names);
  return h(
    "div",
    { class: "embed", vars: tone },
    author,
    title,
    description,
    renderFields(embed.fields, names),
    renderPicture(embed),
    renderFooter(embed),
  );
}

function linked(title, url, names) {
  const text = renderMarkdown(title, names);
  if (!url || !/^https?:\/\//.test(url)) return text;
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text);
}

function renderFields(fields, names) {
  if (!fields?.length) return null;
  const items = fields.map((field) =>
    h(
      "div",
      { class: field.inline ? "field inline" : "field" },
      h("dt", {}, renderMarkdown(field.name, names)),
      h("dd", {}, renderMarkdown(field.value, names)),
    ),
  );
  return h("dl", { class: "fields" }, items);
}

function renderPicture(embed) {
  const address = embed.image?.url && sameOrigin(embed.image.url);
  if (!address?.startsWith("/attachments/")) return null;
  const name = decodeURIComponent(address.split("?")[0].split("/").at(-1));
  return h(
    "a",
    { class: "picture", href: address, target: "_blank", rel: "noopener noreferrer", title: name },
    h("img", { src: address, alt: embed.title ? `${embed.title}: ${name}` : name, loading: "lazy" }),
  );
}

function renderFooter(embed) {
  const when = embed.timestamp ? formatTime(new Date(embed.timestamp), "f") : null;
  const parts = [embed.footer?.text, when].filter(Boolean);
  return parts.length ? h("div", { class: "embed-footer" }, parts.join(" · ")) : null;
}
