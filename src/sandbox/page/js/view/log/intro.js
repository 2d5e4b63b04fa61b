// The beginning of a channel. While nothing was said there, it tells a newcomer what to try.

import { h } from "../elements/dom.js";
import { CHANNEL } from "../../state/store.js";

const WELCOME = {
  general: {
    text: "Talk to the team here as you would to colleagues. Name somebody to hear from them; otherwise Kelly answers.",
    tries: [
      "kelly, who is on the team?",
      "sentinel, what happened this week?",
      "ask vince what he thinks about our costs",
    ],
    file: true,
  },
  "daily-standup": {
    text: "The team's daily standup takes place here.",
    tries: ["let's do a new standup"],
    file: false,
  },
  knowledge: {
    text: "Bring documents and ask about them; Eliza reads along.",
    tries: ["eliza, what do you know so far?"],
    file: true,
  },
  ops: { text: "How the team itself is doing.", tries: ["/status", "/costs"], file: false },
};

export function renderIntro(channel, page, isEmpty) {
  const name = page.store.channelName(channel);
  const title = channel.type === CHANNEL.DM ? name : page.store.isThread(channel) ? name : `#${name}`;
  if (!isEmpty) return h("div", { class: "intro" }, h("p", {}, `This is where ${title} begins.`));
  const welcome = WELCOME[name] ?? { text: firstWords(channel, name, page), tries: [], file: false };
  const tries = welcome.tries.map((text) =>
    h("li", {}, h("button", { type: "button", class: "try", onclick: () => page.compose(channel.id, text) }, text)),
  );
  return h(
    "div",
    { class: "intro empty" },
    h("h3", {}, title),
    h("p", {}, welcome.text),
    tries.length ? [h("p", { class: "hint" }, "Try one of these:"), h("ul", { class: "tries" }, tries)] : null,
    welcome.file ? h("p", { class: "hint" }, "Or drop a file here and ask about it.") : null,
  );
}

function firstWords(channel, name, page) {
  if (channel.type === CHANNEL.DM) return `Only you and ${name} read this conversation.`;
  if (page.store.isThread(channel))
    return "A thread keeps a side matter together. Everybody in the channel can read it.";
  return "Nothing was said here yet. Say hello.";
}
