// Renders the tree of a parser as elements. `names` has `user(id)`, `channel(id)` and `role(id)`, opens clicked links,
// and has the parser for the platform's own markup.

import { h } from "../view/elements/dom.js";
import { parse as parseMarkdown } from "./markdown.js";
import { formatTime } from "./time.js";

const EMOJI_ONLY = /^(?:\p{Extended_Pictographic}[\u{1F3FB}-\u{1F3FF}\u200D\uFE0F]*\s*){1,6}$/u;

/** A text of the platform. */
export function renderText(source, names) {
  return renderBlocks(names.parse(source), source, names);
}

/** Markdown, whatever the platform. */
export function renderMarkdown(source, names) {
  return renderBlocks(parseMarkdown(source), source, names);
}

export function renderBlocks(tree, source, names) {
  const blocks = tree.map((block) => renderBlock(block, names));
  return h("div", { class: EMOJI_ONLY.test(source.trim()) ? "prose emoji-only" : "prose", dir: "auto" }, blocks);
}

/** One line of text without markup, for replies and lists. */
export function plainText(source, names) {
  const word = (node) => {
    if (node.type === "break") return " ";
    if (node.type === "user") return `@${names.user(node.id).name}`;
    if (node.type === "channel") return `#${names.channel(node.id)?.name ?? "unknown"}`;
    if (node.type === "time") return formatTime(new Date(node.seconds * 1000), node.style);
    if (node.items) return node.items.map(word).join(" ");
    if (node.type === "emoji") return names.emoji?.(node.name) ?? `:${node.name}:`;
    if (node.type === "role") return `@${node.name ?? names.role(node.id)?.name ?? "unknown role"}`;
    if (node.name) return `${node.type === "command" ? "/" : "@"}${node.name}`;
    return node.text ?? words(node.children);
  };
  const words = (nodes) => nodes.map(word).join("");
  return names.parse(source).map(word).join(" ").replace(/\s+/g, " ").trim();
}

function renderBlock(block, names) {
  switch (block.type) {
    case "code":
      return renderCode(block);
    case "list":
      return renderList(block, names);
    case "quote":
      return h(
        "blockquote",
        {},
        block.children.map((child) => renderBlock(child, names)),
      );
    case "heading":
      // The page uses heading levels 1 and 2, so messages begin at level 3.
      return h(`h${block.level + 2}`, {}, renderInline(block.children, names));
    case "subtext":
      return h("p", { class: "subtext" }, renderInline(block.children, names));
    default:
      return h("p", {}, renderInline(block.children, names));
  }
}

function renderCode(block) {
  const pre = h("pre", { tabindex: "0" }, h("code", { dir: "ltr" }, block.text));
  return h("div", { class: "code" }, block.language ? h("span", { class: "language" }, block.language) : null, pre);
}

function renderList(list, names) {
  const items = list.items.map((item) =>
    h(
      "li",
      {},
      item.children.map((child) => (child.type === "list" ? renderList(child, names) : renderInline([child], names))),
    ),
  );
  return list.ordered ? h("ol", { start: list.start === 1 ? null : list.start }, items) : h("ul", {}, items);
}

const MARKS = { strong: "strong", em: "em", underline: "u", strike: "s" };

function renderInline(nodes, names) {
  return nodes.map((node) => {
    if (MARKS[node.type]) return h(MARKS[node.type], {}, renderInline(node.children, names));
    switch (node.type) {
      case "text":
        return node.text;
      case "break":
        return h("br");
      case "inline-code":
        return h("code", { dir: "ltr" }, node.text);
      case "link":
        return h(
          "a",
          { href: names.address?.(node.href) ?? node.href, target: "_blank", rel: "noopener noreferrer", title: node.href },
          renderInline(node.children, names),
        );
      case "spoiler":
        return renderSpoiler(node, names);
      case "time":
        return renderTime(node);
      default:
        return renderMention(node, names);
    }
  });
}

function renderSpoiler(node, names) {
  const spoiler = h("span", {
    class: "spoiler",
    role: "button",
    tabindex: "0",
    "aria-label": "Spoiler, press to show",
  });
  const content = h("span", { class: "covered" }, renderInline(node.children, names));
  const show = () => {
    spoiler.classList.add("shown");
    for (const name of ["role", "tabindex", "aria-label"]) spoiler.removeAttribute(name);
  };
  spoiler.addEventListener("click", show, { once: true });
  spoiler.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && show());
  spoiler.append(content);
  return spoiler;
}

function renderTime(node) {
  const date = new Date(node.seconds * 1000);
  const machine = Number.isNaN(date.getTime()) ? null : date.toISOString();
  return h("time", { datetime: machine, title: formatTime(date, "F") }, formatTime(date, node.style));
}

function renderMention(node, names) {
  if (node.type === "user") {
    const user = names.user(node.id);
    const className = user.me ? "mention me" : "mention";
    return h("button", { type: "button", class: className, onclick: () => names.openUser(node.id) }, `@${user.name}`);
  }
  if (node.type === "channel") {
    const channel = names.channel(node.id);
    if (!channel) return h("span", { class: "mention" }, "#unknown");
    return h(
      "button",
      { type: "button", class: "mention", onclick: () => names.openChannel(node.id) },
      `#${channel.name}`,
    );
  }
  if (node.type === "role")
    return h("span", { class: "mention" }, `@${node.name ?? names.role(node.id)?.name ?? "unknown role"}`);
  if (node.type === "everyone") return h("span", { class: "mention me" }, `@${node.name}`);
  if (node.type === "command") return h("span", { class: "mention" }, `/${node.name}`);
  return names.emoji?.(node.name) ?? `:${node.name}:`;
}
