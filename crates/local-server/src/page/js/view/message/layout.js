// Slack's Block Kit: the blocks of a message, a modal or a home tab, and cards with a coloured edge.

import { toComponent } from "../../protocol/slack/views.js";
import { parseRichText } from "../../text/rich_text.js";
import { renderBlocks, renderMarkdown, renderText } from "../../text/render.js";
import { renderAttachments } from "./attachments.js";
import { renderControl, runner } from "./controls.js";
import { h } from "../elements/dom.js";

/** `press(component, values)` rejects with an error message. */
export function renderLayout(blocks, page, press) {
  const problem = h("p", { class: "problem", role: "alert" });
  const run = runner(problem, press);
  return h("div", { class: "layout" }, blocks.map((block) => renderBlock(block, page, run)), problem);
}

function renderBlock(block, page, run) {
  const { names } = page;
  switch (block.type) {
    case "section":
      return renderSection(block, page, run);
    case "header":
      return h("h3", { dir: "auto" }, plain(block.text, names));
    case "context":
      return h("div", { class: "subtext context" }, (block.elements ?? []).map((element) => renderSmall(element, page)));
    case "divider":
      return h("hr");
    case "rich_text":
      return renderBlocks(parseRichText(block), "", names);
    case "markdown":
      return renderMarkdown(block.text ?? "", names);
    case "image":
      return renderImage(block, page);
    case "actions":
    case "context_actions":
      return h("div", { class: "control-row" }, (block.elements ?? []).map((element) => renderElement(element, page, run)));
    case "table":
      return renderTable(block, names);
    case "input":
      return h("div", {}, h("p", { class: "subtext" }, block.label?.text), renderElement(block.element, page, run));
    default:
      // An unknown kind of block: only its text is shown.
      return renderText(textsOf(block).join("\n"), names);
  }
}

function renderSection(block, page, run) {
  const text = block.text ? object(block.text, page.names) : null;
  const fields = block.fields?.length
    ? h("div", { class: "fields" }, block.fields.map((field) => h("div", { class: "field inline" }, object(field, page.names))))
    : null;
  if (!block.accessory) return h("div", { class: "section" }, text, fields);
  const accessory = block.accessory.type === "image" ? renderImage(block.accessory, page) : renderElement(block.accessory, page, run);
  return h("div", { class: "section beside" }, h("div", {}, text, fields), accessory);
}

/** A text object: Markdown of Slack, or plain. */
function object(text, names) {
  if (text.type === "mrkdwn") return renderText(text.text ?? "", names);
  return h("div", { class: "prose", dir: "auto" }, h("p", {}, plain(text, names)));
}

function plain(text, names) {
  return (text?.text ?? "").replace(/:([a-z0-9_+'-]{1,60}):/g, (_, name) => names.emoji?.(name) ?? `:${name}:`);
}

function renderSmall(element, page) {
  if (element.type === "image") return renderImage(element, page);
  return object(element, page.names);
}

function renderElement(element, page, run) {
  const component = element && toComponent(element);
  return component ? renderControl(component, page.store, run) : null;
}

/** Only images of this server are shown, because the page loads nothing from elsewhere. */
function renderImage(image, page) {
  const id = image.slack_file?.id ?? /\/files\/\w+\/(\w+)\//.exec(image.slack_file?.url ?? "")?.[1];
  const name = image.alt_text || "image";
  if (id)
    return renderAttachments([{ id, filename: name, content_type: "image/png", url: `/people/files/${id}/${encodeURIComponent(name)}` }]);
  if (!/^https?:\/\//.test(image.image_url ?? "")) return null;
  const label = image.title ? plain(image.title, page.names) : name;
  return h("p", {}, h("a", { href: image.image_url, target: "_blank", rel: "noopener noreferrer" }, label));
}

function renderTable(block, names) {
  const cell = (content) => (content.type === "rich_text" ? renderBlocks(parseRichText(content), "", names) : content.text);
  const rows = (block.rows ?? []).map((row, at) =>
    h("tr", {}, row.map((content) => h(at ? "td" : "th", {}, cell(content)))),
  );
  return h("div", { class: "table" }, h("table", {}, rows));
}

function textsOf(value) {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === "string" ? (name === "text" || name === "title" ? [inner] : []) : textsOf(inner),
  );
}

/** Attachments of Slack: the older form of a message part, with a colour. */
export function renderCards(cards, page, press) {
  return (cards ?? []).map((card) => {
    const color = /^#?([0-9a-f]{6})$/i.exec(card.color ?? "");
    return h("div", { class: "embed", vars: color ? { "--tone": `#${color[1]}` } : {} }, renderCard(card, page, press));
  });
}

function renderCard(card, page, press) {
  const { names } = page;
  if (card.blocks?.length) return [renderLayout(card.blocks, page, press)];
  const title = card.title && renderText(card.title_link ? `<${card.title_link}|${card.title}>` : card.title, names);
  const fields = (card.fields ?? []).map((field) =>
    h(
      "div",
      { class: field.short ? "field inline" : "field" },
      h("dt", {}, field.title),
      h("dd", {}, renderText(field.value ?? "", names)),
    ),
  );
  return [
    card.pretext ? renderText(card.pretext, names) : null,
    card.author_name ? h("div", { class: "embed-author" }, card.author_name) : null,
    title ? h("div", { class: "embed-title" }, title) : null,
    card.text ? renderText(card.text, names) : null,
    fields.length ? h("dl", { class: "fields" }, fields) : null,
    card.footer ? h("div", { class: "embed-footer" }, card.footer) : null,
  ];
}
