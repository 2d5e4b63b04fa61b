// Slack's `rich_text` blocks as the tree that `render.js` turns into elements.

/** The parts of a block: sections, lists, quotes and code. */
export function parseRichText(block) {
  const parts = [];
  for (const element of block.elements ?? []) {
    const last = parts.at(-1);
    const part = toPart(element);
    // Each indentation comes as a list of its own.
    if (part.type === "list" && part.indent > 0 && last?.type === "list") nest(last, part);
    else parts.push(part);
  }
  return parts;
}

function toPart(element) {
  switch (element.type) {
    case "rich_text_list": {
      const items = (element.elements ?? []).map((item) => ({ children: toInline(item.elements) }));
      const ordered = element.style === "ordered";
      return { type: "list", ordered, start: (element.offset ?? 0) + 1, items, indent: element.indent ?? 0 };
    }
    case "rich_text_quote":
      return { type: "quote", children: [{ type: "paragraph", children: toInline(element.elements) }] };
    case "rich_text_preformatted":
      return { type: "code", language: element.language ?? "", text: (element.elements ?? []).map(textOf).join("") };
    default:
      return { type: "paragraph", children: toInline(element.elements) };
  }
}

function nest(list, inner) {
  const item = list.items.at(-1);
  const deeper = item?.children.at(-1);
  if (deeper?.type === "list" && inner.indent > deeper.indent) nest(deeper, inner);
  else item?.children.push(inner);
}

function textOf(element) {
  return element.text ?? element.url ?? "";
}

const STYLES = { bold: "strong", italic: "em", strike: "strike", underline: "underline" };

function toInline(elements = []) {
  return elements.flatMap((element) => {
    const { style = {} } = element;
    let nodes = toNodes(element);
    if (style.code) nodes = [{ type: "inline-code", text: textOf(element) }];
    for (const [name, type] of Object.entries(STYLES)) if (style[name]) nodes = [{ type, children: nodes }];
    return nodes;
  });
}

function toNodes(element) {
  switch (element.type) {
    case "user":
      return [{ type: "user", id: element.user_id }];
    case "channel":
      return [{ type: "channel", id: element.channel_id }];
    case "usergroup":
      return [{ type: "role", name: "group" }];
    case "broadcast":
      return [{ type: "everyone", name: element.range }];
    case "emoji":
      return [{ type: "emoji", name: element.name }];
    case "date":
      return [{ type: "time", seconds: element.timestamp, style: "f" }];
    case "link": {
      const children = [{ type: "text", text: element.text || element.url }];
      return URL.canParse(element.url) ? [{ type: "link", href: element.url, children }] : children;
    }
    default:
      return textOf(element)
        .split("\n")
        .flatMap((text, at) => (at ? [{ type: "break" }, { type: "text", text }] : [{ type: "text", text }]));
  }
}
