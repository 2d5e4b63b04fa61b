// Converts Slack's messages to the form in which the page keeps all messages, that of Discord. Two more fields hold
// what Discord does not have: `layout` (blocks) and `cards` (attachments), which `view/message/layout.js` shows.

import { personaId } from "../../state/store.js";
import { idOf } from "./ids.js";

const TYPE = { DEFAULT: 0, JOINED: 7, REPLY: 19, THREAD_STARTER: 21, NOTICE: 1000 };
const EPHEMERAL = 64;
const NAME_LENGTH = 48;

/** `slack` has what `ready` said: the users and emojis. */
export function toMessage(message, place, slack) {
  const mentioned = [...(message.text ?? "").matchAll(/<@(\w+)(?:\|[^>]*)?>/g)].map((match) => ({ id: match[1] }));
  return {
    id: idOf(message.ts),
    channel_id: place,
    type: typeOf(message),
    author: toAuthor(message, slack),
    webhook_id: message.username ? message.bot_id : undefined,
    content: message.text ?? "",
    layout: isPlain(message) ? null : message.blocks,
    cards: message.attachments ?? [],
    attachments: [...(message.files ?? []), ...(message.linked_files ?? [])].filter((file) => file.name).map(toFile),
    embeds: [],
    reactions: (message.reactions ?? []).map((reaction) => toReaction(reaction, slack)),
    mentions: mentioned,
    mention_everyone: /<!(?:here|channel|everyone)\b/.test(message.text ?? ""),
    edited_timestamp: message.edited ? Number(message.edited.ts) * 1000 : null,
    flags: message.is_ephemeral ? EPHEMERAL : 0,
    ...toReference(message, place, slack),
  };
}

/** The first message of a thread, as it is shown at the head of the thread. */
export function toStarter(message, slack) {
  const id = idOf(message.ts);
  const shown = toMessage(message, id, slack);
  return { ...shown, type: TYPE.THREAD_STARTER, referenced_message: { ...shown, thread: null } };
}

export function toThread({ channel, ts, text, reply_count: count, latest_reply: latest }, words) {
  const isOld = latest && Date.now() - Number(latest) * 1000 > 24 * 3600 * 1000;
  return {
    id: idOf(ts),
    type: 11,
    parent_id: channel,
    name: nameOf(words(text.trim().split("\n")[0])),
    message_count: count ?? 0,
    last_message_id: latest ? idOf(latest) : idOf(ts),
    draft: !count,
    thread_metadata: { archived: Boolean(isOld) },
  };
}

/** A thread has no name of its own: its first line, in short. */
function nameOf(line) {
  if (line.length <= NAME_LENGTH) return line || "Thread";
  return `${line.slice(0, NAME_LENGTH).replace(/\s+\S*$/, "")}…`;
}

function typeOf(message) {
  if (message.subtype === "channel_join" || message.subtype === "group_join" || message.subtype === "tombstone")
    return TYPE.NOTICE;
  return message.subtype === "thread_broadcast" ? TYPE.REPLY : TYPE.DEFAULT;
}

function toAuthor(message, { users, emoji }) {
  if (message.username) {
    const sign = message.icons?.emoji && emoji(message.icons.emoji.replaceAll(":", ""), null);
    return { id: personaId(message.username), username: message.username, bot: true, sign };
  }
  const user = users.get(message.user);
  return { id: message.user ?? "", username: user?.name ?? message.bot_profile?.name ?? "unknown", bot: Boolean(user?.is_bot) };
}

/** A reply that is shown in the channel too says what it replies to. */
function toReference(message, place, slack) {
  if (message.subtype !== "thread_broadcast" || !message.root || place === idOf(message.thread_ts)) return {};
  return {
    message_reference: { message_id: idOf(message.root.ts), channel_id: place },
    referenced_message: toMessage(message.root, place, slack),
  };
}

export function toFile(file) {
  return {
    id: file.id,
    filename: file.name,
    size: file.size,
    content_type: file.mimetype,
    url: `/people/files/${file.id}/${encodeURIComponent(file.name)}`,
  };
}

function toReaction({ name, count, users }, { me, emoji }) {
  const [base] = name.split("::");
  return { emoji: { name: emoji(base), slack: name }, count, me: users.includes(me) };
}

/** Slack makes one block of a text without blocks. Then the text says everything, with its marks. */
function isPlain(message) {
  const [block, ...others] = message.blocks ?? [];
  if (!block) return true;
  if (others.length || block.type !== "rich_text" || !message.text) return false;
  return block.elements.every(
    (part) => part.type === "rich_text_section" && part.elements.every((element) => !element.style),
  );
}
