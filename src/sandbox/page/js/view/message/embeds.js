// Embeds: a card with the colour of its author's choice at the edge. Pictures in embeds would come
// from elsewhere, so they are not shown.

import { renderMarkdown } from "../../text/render.js";
import { formatTime } from "../../text/time.js";
import { h } from "../elements/dom.js";

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

function renderFooter(embed) {
  const when = embed.timestamp ? formatTime(new Date(embed.timestamp), "f") : null;
  const parts = [embed.footer?.text, when].filter(Boolean);
  return parts.length ? h("div", { class: "embed-footer" }, parts.join(" · ")) : null;
}
