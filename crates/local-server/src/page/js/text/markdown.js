// Parses Discord's Markdown into a tree. `render.js` turns the tree into elements.

import { matchAt, readBlocks, readInline } from "./scan.js";

const FENCE = /```(?:([\w+#.-]+)\n)?\n*([^]*?)\n*```/y;
const HEADING = /(#{1,3}) +([^\n]+)(?:\n|$)/y;
const SUBTEXT = /-# +([^\n]+)(?:\n|$)/y;
const QUOTE_REST = />>> ?([^]*)/y;
const QUOTE_LINES = /(?:> [^\n]*(?:\n|$)|>(?:\n|$))+/y;
const LIST_LINES = /(?: *(?:[-*]|\d{1,9}\.) +[^\n]+(?:\n|$)(?: +(?![-*] |\d{1,9}\. )[^\n]+(?:\n|$))*)+/y;
const LIST_ITEM = /^( *)([-*]|\d{1,9}\.) +(.*)$/;

// Limits nesting, so that a message cannot overflow the stack.
const MAX_DEPTH = 12;

/** Blocks of a message: paragraph, heading, subtext, quote, list and code. */
export function parse(source, depth = 0) {
  const inline = (text) => parseInline(text, depth);
  return readBlocks(source, FENCE, (at) => parseBlock(source, at, depth), inline);
}

function parseBlock(source, at, depth) {
  let match = matchAt(FENCE, source, at);
  if (match && match[2]) {
    const end = FENCE.lastIndex;
    return {
      block: { type: "code", language: match[1] ?? "", text: match[2] },
      end: source[end] === "\n" ? end + 1 : end,
    };
  }
  if (depth > MAX_DEPTH || (at > 0 && source[at - 1] !== "\n")) return null;
  if ((match = matchAt(QUOTE_REST, source, at)))
    return { block: { type: "quote", children: parse(match[1], depth + 1) }, end: source.length };
  if ((match = matchAt(QUOTE_LINES, source, at))) {
    const inner = match[0].replace(/\n$/, "").replace(/^> ?/gm, "");
    return { block: { type: "quote", children: parse(inner, depth + 1) }, end: at + match[0].length };
  }
  if ((match = matchAt(HEADING, source, at)))
    return {
      block: { type: "heading", level: match[1].length, children: parseInline(match[2], depth + 1) },
      end: at + match[0].length,
    };
  if ((match = matchAt(SUBTEXT, source, at)))
    return { block: { type: "subtext", children: parseInline(match[1], depth + 1) }, end: at + match[0].length };
  if ((match = matchAt(LIST_LINES, source, at)))
    return { block: parseList(match[0], depth), end: at + match[0].length };
  return null;
}

/** Lists nest by indentation; a line without a marker belongs to the item above it. */
function parseList(text, depth) {
  const root = { type: "list", ordered: null, start: 1, items: [], indent: -1 };
  const open = [root];
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const match = LIST_ITEM.exec(line);
    if (!match) {
      const item = open.at(-1).items.at(-1);
      item.children.push({ type: "break" }, ...parseInline(line.trim(), depth + 1));
      continue;
    }
    const indent = match[1].length;
    while (open.length > 1 && indent < open.at(-1).indent) open.pop();
    let list = open.at(-1);
    if (list.items.length && indent > list.indent + 1 && open.length < MAX_DEPTH) {
      const inner = { type: "list", ordered: null, start: 1, items: [], indent };
      list.items.at(-1).children.push(inner);
      open.push(inner);
      list = inner;
    }
    if (list.ordered === null) {
      list.ordered = /\d/.test(match[2]);
      list.start = list.ordered ? Number.parseInt(match[2], 10) : 1;
      list.indent = indent;
    }
    list.items.push({ children: parseInline(match[3], depth + 1) });
  }
  return root;
}

// The order matters: first patterns whose content is not parsed further, and longer markers before shorter ones. Each
// pattern is sticky and its alternatives start with different characters, which limits backtracking.
const INLINE = [
  [/\\([^A-Za-z0-9\s])/y, (m) => ({ type: "text", text: m[1] })],
  [/(`+)(?!`)([^]*?[^`])\1(?!`)/y, (m) => ({ type: "inline-code", text: m[2].replace(/^ (?=`)|(?<=`) $/g, "") })],
  [/<(https?:\/\/[^\s<>]+)>/y, (m) => link(m[1], null)],
  [/<t:(-?\d{1,13})(?::([tTdDfFR]))?>/y, (m) => ({ type: "time", seconds: Number(m[1]), style: m[2] ?? "f" })],
  [/<@!?(\d+)>/y, (m) => ({ type: "user", id: m[1] })],
  [/<@&(\d+)>/y, (m) => ({ type: "role", id: m[1] })],
  [/<#(\d+)>/y, (m) => ({ type: "channel", id: m[1] })],
  [/<\/([^\s:>][^:>]{0,60}):\d+>/y, (m) => ({ type: "command", name: m[1] })],
  [/<a?:(\w{2,32}):\d+>/y, (m) => ({ type: "emoji", name: m[1] })],
  [/@(everyone|here)\b/y, (m) => ({ type: "everyone", name: m[1] })],
  [
    /\[((?:\\.|[^[\]\\]){1,1000})\]\(<?(https?:\/\/(?:[^\s<>()]|\([^\s<>()]*\))+)>?\)/y,
    (m, inner) => link(m[2], inner(m[1])),
  ],
  [/https?:\/\/[^\s<]+/y, bareLink],
  [/\|\|([^]+?)\|\|/y, (m, inner) => ({ type: "spoiler", children: inner(m[1]) })],
  [
    /\*\*\*(?!\s)([^]+?)\*\*\*(?!\*)/y,
    (m, inner) => ({ type: "strong", children: [{ type: "em", children: inner(m[1]) }] }),
  ],
  [/\*\*((?:\\[^]|[^\\])+?)\*\*(?!\*)/y, (m, inner) => ({ type: "strong", children: inner(m[1]) })],
  [/__((?:\\[^]|[^\\])+?)__(?!_)/y, (m, inner) => ({ type: "underline", children: inner(m[1]) })],
  [
    /\*(?![\s*])((?:\*\*[^*]+\*\*|\\[^]|[^*\\])+?)(?<!\s)\*(?!\*)/y,
    (m, inner) => ({ type: "em", children: inner(m[1]) }),
  ],
  [
    /(?<![A-Za-z0-9])_(?![\s_])((?:__[^_]+__|\\[^]|[^_\\])+?)(?<!\s)_(?![A-Za-z0-9_])/y,
    (m, inner) => ({ type: "em", children: inner(m[1]) }),
  ],
  [/~~([^]+?)~~/y, (m, inner) => ({ type: "strike", children: inner(m[1]) })],
  [/\n/y, () => ({ type: "break" })],
];
const PLAIN = /[^\\`<@[h|*_~\n]+|[^]/y;

export function parseInline(source, depth = 0) {
  const inner = (text) => (depth > MAX_DEPTH ? [{ type: "text", text }] : parseInline(text, depth + 1));
  return readInline(source, (at) => nextInline(source, at, inner));
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

function link(href, children) {
  if (!URL.canParse(href)) return null;
  return { type: "link", href, children: children ?? [{ type: "text", text: href }] };
}

/** A link without markup ends before punctuation and before a closing bracket that it did not open. */
function bareLink(match) {
  let href = match[0].replace(/[.,:;!?"'*_~|\]]+$/, "");
  while (href.endsWith(")") && href.split(")").length > href.split("(").length) href = href.slice(0, -1);
  const node = link(href, null);
  return node && { ...node, length: href.length };
}
