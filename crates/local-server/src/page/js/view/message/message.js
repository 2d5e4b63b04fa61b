// One message as an element. `page` has the shared services.

import { plainText, renderText } from "../../text/render.js";
import { sentence } from "../../text/sentence.js";
import { formatTime, timeOf } from "../../text/time.js";
import { renderAttachments } from "./attachments.js";
import { avatar, toneOf } from "../elements/avatar.js";
import { renderCards, renderLayout } from "./layout.js";
import { renderControls } from "./controls.js";
import { h, hidden } from "../elements/dom.js";
import { renderEmbeds } from "./embeds.js";
import { icon } from "../elements/icons.js";

const TYPE = { DEFAULT: 0, PINNED: 6, JOINED: 7, THREAD_CREATED: 18, REPLY: 19, COMMAND: 20, THREAD_STARTER: 21 };
const SPOKEN = new Set([TYPE.DEFAULT, TYPE.REPLY, TYPE.COMMAND, 23]);
const FLAG = { EPHEMERAL: 64, LOADING: 128 };

// Messages of one author within this time are grouped, as in Discord.
const GROUP_MS = 7 * 60 * 1000;

export function isSpoken(message) {
  return SPOKEN.has(message.type);
}

export function isEphemeral(message) {
  return (message.flags & FLAG.EPHEMERAL) !== 0;
}

/** Whether `message` is in one group with `previous`. */
export function continues(previous, message) {
  if (!previous || !isSpoken(previous) || !isSpoken(message)) return false;
  if (message.message_reference || message.interaction_metadata || isEphemeral(previous) !== isEphemeral(message))
    return false;
  const same = previous.author.id === message.author.id && previous.author.username === message.author.username;
  return same && timeOf(message.id) - timeOf(previous.id) < GROUP_MS;
}

export function renderMessage(message, page, { grouped = false } = {}) {
  if (message.type === TYPE.THREAD_STARTER && message.referenced_message) {
    return renderMessage({ ...message.referenced_message, id: message.id, revision: 0, thread: null }, page);
  }
  if (!isSpoken(message)) return renderNotice(message, page);
  const author = page.store.author(message);
  const classes = [
    "message",
    grouped && "grouped",
    page.store.mentionsMe(message) && "addressed",
    isEphemeral(message) && "ephemeral",
  ];
  return h(
    "article",
    {
      class: classes.filter(Boolean).join(" "),
      tabindex: "-1",
      data: { id: message.id },
      "aria-label": `${author.name}, ${formatTime(timeOf(message.id), "t")}`,
    },
    renderReplyBar(message, page),
    renderGutter(message, author, grouped, page),
    h(
      "div",
      { class: "body" },
      grouped ? null : renderHeader(message, author, page),
      renderContent(message, author, page),
    ),
  );
}

function renderGutter(message, author, grouped, page) {
  if (grouped) return h("span", { class: "gutter", "aria-hidden": "true" }, stamp(message, "t"));
  const open = author.webhook ? null : () => page.openPerson(author.id);
  return h(
    "button",
    { type: "button", class: "gutter", tabindex: "-1", "aria-hidden": "true", onclick: open },
    avatar(author),
  );
}

function renderHeader(message, author, page) {
  const open = author.webhook ? null : () => page.openPerson(author.id);
  return h(
    "header",
    {},
    h(
      "button",
      {
        type: "button",
        class: author.color ? "name toned" : "name",
        vars: { "--tone": toneOf(author) },
        onclick: open,
      },
      author.name,
    ),
    author.bot ? h("span", { class: "tag" }, page.traits.tag) : null,
    stamp(message, "t"),
  );
}

function stamp(message, style) {
  const date = timeOf(message.id);
  return h("time", { datetime: date.toISOString(), title: formatTime(date, "F") }, formatTime(date, style));
}

function renderContent(message, author, page) {
  if (message.flags & FLAG.LOADING)
    return h(
      "p",
      { class: "thinking" },
      `${author.name} is thinking`,
      h("span", { class: "dots", "aria-hidden": "true" }),
    );
  const parts = [];
  const press = (component, values) => page.interactions.press(message, component, values);
  if (message.layout) parts.push(withEdited(renderLayout(message.layout, page, press), message));
  else if (message.content) parts.push(withEdited(renderText(message.content, page.names), message));
  parts.push(renderAttachments(message.attachments), renderEmbeds(message.embeds, page.names));
  parts.push(renderCards(message.cards, page, press));
  if (!message.content && !message.layout && message.edited_timestamp) parts.push(withEdited(h("div", { class: "prose" }), message));
  parts.push(renderControls(message.components, page.store, press));
  parts.push(renderReactions(message, page), renderThreadLink(message, page));
  if (isEphemeral(message)) parts.push(renderOnlyYou(message, page));
  return parts;
}

function withEdited(prose, message) {
  if (!message.edited_timestamp) return prose;
  const mark = h("span", { class: "edited", title: formatTime(new Date(message.edited_timestamp), "F") }, " (edited)");
  const last = prose.lastElementChild;
  (last?.matches("p") ? last : prose).append(mark);
  return prose;
}

function renderReplyBar(message, page) {
  const command = message.interaction_metadata;
  if (command?.type === 2) {
    const user = page.store.person(command.user?.id, command.user);
    const name = message.interaction?.name ?? command.name;
    return h(
      "div",
      { class: "reply-bar" },
      avatar(user, "avatar tiny"),
      `${user.me ? "You" : user.name} used `,
      h("span", { class: "mention" }, `/${name ?? "command"}`),
    );
  }
  if (message.type !== TYPE.REPLY) return null;
  // Null means that the original was deleted. Nested messages have no such field.
  const original =
    message.referenced_message === undefined
      ? page.store.history(message.channel_id).find(message.message_reference?.message_id)
      : message.referenced_message;
  if (!original && message.referenced_message === undefined) return null;
  if (!original) return h("div", { class: "reply-bar" }, icon("reply"), "The original message was deleted");
  const author = page.store.author(original);
  const title = plainText(original.embeds?.[0]?.title ?? "", page.names);
  const words =
    plainText(original.content, page.names) || title || (original.attachments?.length ? "a file" : "a message");
  return h(
    "button",
    { type: "button", class: "reply-bar", onclick: () => page.openMessage(message.channel_id, original.id) },
    hidden("In reply to "),
    avatar(author, "avatar tiny"),
    h("span", { class: "reply-name" }, author.name),
    h("span", { class: "reply-words", dir: "auto" }, words.slice(0, 160)),
  );
}

function renderReactions(message, page) {
  if (!message.reactions?.length) return null;
  const chips = message.reactions.map((reaction) => {
    const name = reaction.emoji.id ? `:${reaction.emoji.name}:` : reaction.emoji.name;
    const toggle = () => page.attempt(page.messages.toggleReaction(message, reaction.emoji));
    return h(
      "button",
      {
        type: "button",
        class: "reaction",
        "aria-pressed": String(reaction.me),
        "aria-label": `${name}, ${reaction.count}`,
        onclick: toggle,
      },
      name,
      h("span", { class: "count" }, String(reaction.count)),
    );
  });
  return h("div", { class: "reactions" }, chips);
}

function renderThreadLink(message, page) {
  const thread = page.store.channels.get(message.id) ?? message.thread;
  // At the head of its thread the link would lead to itself.
  if (!thread || thread.draft || thread.id === message.channel_id) return null;
  const count = thread.message_count ?? 0;
  const words = count === 1 ? "1 message" : `${count} messages`;
  return h(
    "button",
    { type: "button", class: "thread-link", onclick: () => page.openChannel(thread.id) },
    icon("thread"),
    h("span", { class: "thread-name" }, thread.name),
    h("span", { class: "count" }, words),
    icon("chevron"),
  );
}

function renderOnlyYou(message, page) {
  const dismiss = h(
    "button",
    { type: "button", class: "quiet", onclick: () => page.attempt(page.messages.delete(message)) },
    "Dismiss",
  );
  return h("p", { class: "only-you" }, "Only you can see this. ", dismiss);
}

function renderNotice(message, page) {
  const author = page.store.author(message);
  const open = (id) => () => page.openChannel(id);
  const threadId = message.message_reference?.channel_id;
  const notices = {
    [TYPE.PINNED]: () => [`${author.name} pinned a message`],
    [TYPE.JOINED]: () => [`${author.name} joined the team`],
    [TYPE.THREAD_CREATED]: () => [
      `${author.name} started a thread: `,
      h("button", { type: "button", class: "mention", onclick: open(threadId) }, message.content),
    ],
  };
  const words = notices[message.type]?.() ?? [
    plainText(message.content, page.names) || `${author.name} did something this page does not know`,
  ];
  return h("article", { class: "notice", tabindex: "-1", data: { id: message.id } }, words, " ", stamp(message, "t"));
}

/** A message of this person that the server has not confirmed yet. */
export function renderPending(sent, channelId, page) {
  const me = page.store.person(page.store.me.id);
  const files = sent.files.map((file) =>
    h(
      "div",
      { class: "file" },
      h("div", { class: "caption" }, icon("file"), h("span", { class: "filename" }, file.name)),
    ),
  );
  return h(
    "article",
    { class: sent.error ? "message failed" : "message pending", tabindex: "-1" },
    h("span", { class: "gutter", "aria-hidden": "true" }, avatar(me)),
    h(
      "div",
      { class: "body" },
      h("header", {}, h("span", { class: "name" }, me.name)),
      sent.content ? renderText(sent.content, page.names) : null,
      files,
      renderProgress(sent, channelId, page),
    ),
  );
}

function renderProgress(sent, channelId, page) {
  if (sent.error) {
    const retry = h(
      "button",
      { type: "button", class: "quiet", onclick: () => page.messages.retry(channelId, sent) },
      icon("retry"),
      "Retry",
    );
    const discard = h(
      "button",
      { type: "button", class: "quiet", onclick: () => page.messages.discard(channelId, sent) },
      "Discard",
    );
    return h("p", { class: "problem", role: "alert" }, `Not sent. ${sentence(sent.error)} `, retry, discard);
  }
  if (sent.progress !== null) return h("progress", { value: sent.progress, max: 1, "aria-label": "Upload" });
  return null;
}
