// What the parsers of both forms of Markdown share.

/** Matches a sticky pattern at a place. */
export function matchAt(pattern, source, at) {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

/** Blocks of a text. `parseBlock` finds one at a place; the lines between are paragraphs. `fence` is the pattern of a code block. */
export function readBlocks(source, fence, parseBlock, parseInline) {
  const blocks = [];
  let paragraph = "";
  const endParagraph = () => {
    for (const part of paragraph.split(/\n{2,}/)) {
      const text = part.replace(/^\n+|\n+$/g, "");
      if (text.trim()) blocks.push({ type: "paragraph", children: parseInline(text) });
    }
    paragraph = "";
  };
  for (let at = 0; at < source.length;) {
    const found = parseBlock(at);
    if (found) {
      endParagraph();
      blocks.push(found.block);
      at = found.end;
      continue;
    }
    const end = endOfText(source, fence, at);
    paragraph += source.slice(at, end);
    at = end;
  }
  endParagraph();
  return blocks;
}

/** Plain text ends at the end of its line, or before a code block. */
function endOfText(source, pattern, at) {
  const newline = source.indexOf("\n", at);
  const end = newline < 0 ? source.length : newline + 1;
  const fence = source.indexOf("```", at + 1);
  return fence > at && fence < end && matchAt(pattern, source, fence) ? fence : end;
}

/** The nodes of a line. `next` finds the one at a place; neighboring texts become one. */
export function readInline(source, next) {
  const nodes = [];
  for (let at = 0; at < source.length;) {
    const { node, end } = next(at);
    const last = nodes.at(-1);
    if (node.type === "text" && last?.type === "text") last.text += node.text;
    else nodes.push(node);
    at = end;
  }
  return nodes;
}
