// Ctrl F: finds messages by their words in everything that the person may read, loaded or not.

import { plainText } from "../../text/render.js";
import { formatTime, timeOf } from "../../text/time.js";
import { avatar } from "../elements/avatar.js";
import { Completion } from "../elements/completion.js";
import { h } from "../elements/dom.js";
import { openDialog } from "./dialogs.js";

const TYPING_MS = 200;
// Characters before the first word that was searched for.
const LEAD = 40;
const EXCERPT = 160;

export function showSearch(page) {
  return openDialog("Search messages", "switcher search", (close) => {
    const input = h("input", {
      type: "text",
      placeholder: "Words, or a name and words",
      "aria-label": "Search messages",
      autofocus: true,
      autocomplete: "off",
    });
    const hint = h("p", { class: "hint", role: "status" }, "Searches all channels, threads and direct messages.");
    const completion = new Completion(input);
    const open = ({ found }) => {
      close();
      page.openAt(found.channelId, found.id);
    };
    let typing = 0;
    let latest = 0;
    const search = async () => {
      const words = input.value.trim();
      const turn = (latest += 1);
      const answer = words ? await page.attempt(page.service.searchMessages(words)) : null;
      // The answer to an earlier word may come later.
      if (turn !== latest || !input.isConnected) return;
      completion.open(answer?.found.map((found) => describe(found, words, page)) ?? [], open);
      hint.textContent = words ? (answer ? count(answer) : "") : "Searches all channels, threads and direct messages.";
    };
    input.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(search, TYPING_MS);
    });
    input.addEventListener("keydown", (event) => event.key !== "Escape" && completion.key(event));
    return [input, completion.element, hint];
  });
}

function count({ count: all, found }) {
  if (!all) return "No message has all of these words.";
  if (all > found.length) return `${all} messages. These are the newest ${found.length}.`;
  return all === 1 ? "1 message" : `${all} messages`;
}

function describe(found, words, page) {
  const { store } = page;
  const author = store.author({ author: found.author, webhook_id: found.webhook_id });
  const channel = store.channels.get(found.channelId);
  const parent = channel && store.channels.get(channel.parent_id);
  const place = channel ? `${store.isThread(channel) && parent ? `#${parent.name} › ` : channel.type === 0 ? "#" : ""}${store.channelName(channel)}` : "an old thread";
  return {
    found,
    picture: avatar(author, "avatar small"),
    label: author.name,
    detail: [
      h("span", { class: "place" }, `${place} · ${formatTime(timeOf(found.id), "f")}`),
      h("span", { class: "excerpt", dir: "auto" }, mark(excerpt(plainText(found.text, page.names), words), words)),
    ],
  };
}

/** The part of a text around the first word. */
function excerpt(text, words) {
  const at = Math.max(0, Math.min(...positions(text, words)));
  const from = at > LEAD ? text.indexOf(" ", at - LEAD) + 1 || at : 0;
  const shown = text.slice(from, from + EXCERPT);
  return `${from > 0 ? "… " : ""}${shown}${from + EXCERPT < text.length ? "…" : ""}`;
}

function positions(text, words) {
  const lower = text.toLowerCase();
  const found = split(words).map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  return found.length ? found : [0];
}

function split(words) {
  return words.toLowerCase().split(/\s+/);
}

/** The words that were searched for stand out. */
function mark(text, words) {
  const escaped = split(words).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pieces = text.split(new RegExp(`(${escaped.join("|")})`, "iu"));
  return pieces.map((piece, index) => (index % 2 ? h("mark", {}, piece) : piece));
}
