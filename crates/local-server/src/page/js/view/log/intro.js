// The beginning of a channel. In an empty channel it suggests what to try.

import { showModelHelp } from "../dialogs/dialogs.js";
import { h } from "../elements/dom.js";
import { CHANNEL } from "../../state/store.js";

const WELCOME = {
  general: {
    text: "Talk to the team as you would to colleagues. Start with a name to ask somebody; otherwise Kelly answers.",
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
    text: "Drop documents here and ask Eliza about them.",
    tries: ["eliza, what do you know so far?"],
    file: true,
  },
  ops: { text: "Health and costs of the team.", tries: ["status", "costs"], commands: true, file: false },
};

export function renderIntro(channel, page, isEmpty) {
  const name = page.store.channelName(channel);
  const title = channel.type === CHANNEL.DM ? name : page.store.isThread(channel) ? name : `#${name}`;
  const isUnnamed = page.store.isThread(channel) && !page.traits.namedThreads;
  if (!isEmpty) {
    const words = `This is the beginning of ${isUnnamed ? "the thread" : title}.`;
    return h("div", { class: "intro" }, h("p", {}, words));
  }
  const welcome = WELCOME[name] ?? { text: defaultWelcome(channel, name, page), tries: [], file: false };
  const written = (text) => (welcome.commands ? page.traits.command(text) : text);
  const tries = welcome.tries.map(written).map((text) =>
    h("li", {}, h("button", { type: "button", class: "try", onclick: () => page.compose(channel.id, text) }, text)),
  );
  return h(
    "div",
    { class: "intro empty" },
    h("h3", {}, title),
    h("p", {}, welcome.text),
    name === "general" ? renderTeam(page) : null,
    tries.length ? [h("p", { class: "hint" }, "Try one of these:"), h("ul", { class: "tries" }, tries)] : null,
    welcome.file ? h("p", { class: "hint" }, "Or drop a file here and ask about it.") : null,
  );
}

/** Who is there and what each does. A click begins a message to them. */
function renderTeam(page) {
  const { team } = page;
  if (!team.length) return null;
  const entries = team.map(({ id, name, role }) => {
    const start = () => (id ? page.mention(id) : page.address(name));
    const words = `${id ? page.store.person(id).name : name}: ${role}`;
    return h("li", {}, h("button", { type: "button", class: "try", onclick: start }, words));
  });
  const models = page.models
    ? h("p", { class: "hint" }, page.models)
    : h(
        "p",
        { class: "hint" },
        "No language model is connected, so answers come from feeds and files. ",
        h("button", { type: "button", class: "try", onclick: showModelHelp }, "Connect one"),
      );
  return [h("p", { class: "hint" }, "On the team:"), h("ul", { class: "tries" }, entries), models];
}

function defaultWelcome(channel, name, page) {
  if (channel.type === CHANNEL.DM) return `Only you and ${name} can read this conversation.`;
  if (page.store.isThread(channel))
    return "A thread for one topic. Everybody in the channel can read it.";
  return "No messages yet. Say hello.";
}
