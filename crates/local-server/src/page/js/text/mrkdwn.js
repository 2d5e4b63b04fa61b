// Parses Slack's own form of Markdown into the tree that `render.js` turns into elements: one star for bold, no headings, no
// lists, links and mentions in angle brackets, and `&`, `<` and `>` as entities.

import { matchAt, readBlocks, readInline } from "./scan.js";

const FENCE = /```\n?([^]*?)\n?```/y;
const QUOTE_REST = /(?:&gt;|>){3} ?([^]*)/y;
const QUOTE_LINES = /(?:(?:&gt;|>)[^\n]*(?:\n|$))+/y;

// Limits nesting, so that a message cannot overflow the stack.
const MAX_DEPTH = 8;

/** Blocks of a message: paragraph, quote and code. */
export function parse(source, depth = 0) {
  const inline = (text) => parseInline(text, depth);
  return readBlocks(source, FENCE, (at) => parseBlock(source, at, depth), inline);
}

function parseBlock(source, at, depth) {
  let match = matchAt(FENCE, source, at);
  if (match && match[1]) {
    const end = FENCE.lastIndex;
    const block = { type: "code", language: "", text: unescape(match[1]) };
    return { block, end: source[end] === "\n" ? end + 1 : end };
  }
  if (depth > MAX_DEPTH || (at > 0 && source[at - 1] !== "\n")) return null;
  if ((match = matchAt(QUOTE_REST, source, at)))
    return { block: { type: "quote", children: parse(match[1], depth + 1) }, end: source.length };
  if ((match = matchAt(QUOTE_LINES, source, at))) {
    const inner = match[0].replace(/\n$/, "").replace(/^(?:&gt;|>) ?/gm, "");
    return { block: { type: "quote", children: parse(inner, MAX_DEPTH + 1) }, end: at + match[0].length };
  }
  return null;
}

// A mark counts only at the edge of a word. A zero-width space beside it takes its meaning away.
const MARKED = (mark) =>
  new RegExp(`(?<![\\p{L}\\p{N}${mark}])${mark}(?![\\s\\u200B${mark}])([^${mark}\\n]+?)(?<![\\s\\u200B])${mark}(?![\\p{L}\\p{N}${mark}])`, "yu");

const INLINE = [
  [/`([^`\n]+)`/y, (m) => ({ type: "inline-code", text: unescape(m[1]) })],
  [/<@(\w+)(?:\|[^>\n]*)?>/y, (m) => ({ type: "user", id: m[1] })],
  [/<#(\w+)(?:\|[^>\n]*)?>/y, (m) => ({ type: "channel", id: m[1] })],
  [/<!(here|channel|everyone)(?:\|[^>\n]*)?>/y, (m) => ({ type: "everyone", name: m[1] })],
  [/<!subteam\^\w+(?:\|@?([^>\n]*))?>/y, (m) => ({ type: "role", name: m[1] ?? "group" })],
  [/<!date\^(\d{1,13})\^[^>|\n]*(?:\|[^>\n]*)?>/y, (m) => ({ type: "time", seconds: Number(m[1]), style: "f" })],
  [/<((?:https?:\/\/|mailto:)[^>|\n]+)(?:\|([^>\n]*))?>/y, (m) => link(unescape(m[1]), m[2] && unescape(m[2]))],
  [/https?:\/\/[^\s<>|]+/y, bareLink],
  [/:([a-z0-9_+'-]{1,60}):/y, (m) => ({ type: "emoji", name: m[1] })],
  [MARKED("\\*"), (m, inner) => ({ type: "strong", children: inner(m[1]) })],
  [MARKED("_"), (m, inner) => ({ type: "em", children: inner(m[1]) })],
  [MARKED("~"), (m, inner) => ({ type: "strike", children: inner(m[1]) })],
  [/\n/y, () => ({ type: "break" })],
];
const PLAIN = /[^`<:*_~\nh]+|[^]/y;

export function parseInline(source, depth = 0) {
  const inner = (text) => (depth > MAX_DEPTH + 2 ? [{ type: "text", text: unescape(text) }] : parseInline(text, depth + 1));
  const nodes = readInline(source, (at) => nextInline(source, at, inner));
  for (const node of nodes) if (node.type === "text") node.text = unescape(node.text);
  return nodes;
}

function nextInline(source, at, inner) {
  for (const [pattern, build] of INLINE) {
    const match = matchAt(pattern, source, at);
    if (!match) continue;
    const node = build(match, inner);
    if (node) return { node, end: at + (node.length ?? match[0].length) };
  }
  const text = matchAt(PLAIN, source, at)[0];
  return { node: { type: "text", text }, end: at + text.length };
}

function link(href, label) {
  if (!URL.canParse(href)) return null;
  return { type: "link", href, children: [{ type: "text", text: label || href.replace(/^mailto:/, "") }] };
}

/** A link without brackets ends before punctuation. */
function bareLink(match) {
  const shown = match[0].replace(/[.,:;!?"'*_~)\]]+$/, "");
  const node = link(unescape(shown), null);
  return node && { ...node, length: shown.length };
}

function unescape(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** A stored text as a person would write it. */
export function editable(content) {
  return unescape(content.replace(/<(https?:\/\/[^>|\n]+)>/g, "$1"));
}
