// The state of the server, built from events of Discord's gateway. The adapter of Slack makes such events too. Views
// read it and subscribe to topics: `channels`, `people`, `typing`, `history:<channel id>`, `message`, `ready`.

import { compareIds } from "../text/time.js";
import { History } from "./history.js";
import { Reads } from "./reads.js";

export const CHANNEL = {
  TEXT: 0,
  DM: 1,
  CATEGORY: 4,
  ANNOUNCEMENTS: 5,
  NEWS_THREAD: 10,
  THREAD: 11,
  PRIVATE_THREAD: 12,
};

// The type of a thread's first message, which repeats the original. Discord does not count it.
const THREAD_STARTER = 21;
const TYPING_MS = 10_000;
/** Stands for a persona without an account, so that its messages and its entries look alike. */
export function personaId(name) {
  return `persona ${name}`;
}

const NOBODY_KNOWN = { name: "unknown", bot: false, color: 0, me: false };

export class Store {
  me = null;
  guild = null;
  reads = null;
  channels = new Map();
  members = new Map();
  roles = new Map();
  presences = new Map();
  #typing = new Map();
  #doing = new Map();
  #histories = new Map();
  #listeners = new Map();

  /** Calls `listener` on each change of `topic`. Returns the function to unsubscribe. */
  on(topic, listener) {
    if (!this.#listeners.has(topic)) this.#listeners.set(topic, new Set());
    this.#listeners.get(topic).add(listener);
    return () => this.#listeners.get(topic).delete(listener);
  }

  emit(topic, detail) {
    for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener(detail);
  }

  // ---- facts

  isThread(channel) {
    return channel.type >= CHANNEL.NEWS_THREAD && channel.type <= CHANNEL.PRIVATE_THREAD;
  }

  /** Channels in the server's order. */
  listChannels() {
    const shown = [...this.channels.values()].filter(
      (c) => c.type === CHANNEL.TEXT || c.type === CHANNEL.ANNOUNCEMENTS,
    );
    return shown.sort((a, b) => (a.position ?? 0) - (b.position ?? 0) || compareIds(a.id, b.id));
  }

  /** Threads of a channel that are not archived, the most recently used first. */
  listThreads(parentId) {
    const threads = [...this.channels.values()].filter(
      (c) => this.isThread(c) && c.parent_id === parentId && !c.draft && !c.thread_metadata?.archived,
    );
    return threads.sort((a, b) => compareIds(b.last_message_id ?? b.id, a.last_message_id ?? a.id));
  }

  listDirect() {
    const direct = [...this.channels.values()].filter((c) => c.type === CHANNEL.DM);
    return direct.sort((a, b) => compareIds(b.last_message_id ?? b.id, a.last_message_id ?? a.id));
  }

  channelName(channel) {
    if (channel.type !== CHANNEL.DM) return channel.name;
    return channel.recipients?.map((user) => this.person(user.id).name).join(", ") || "Direct message";
  }

  /** One account as the page shows it: `{ id, name, bot, color, picture, me }`. */
  person(id, user = null) {
    const member = this.members.get(id);
    const known = member?.user ?? user;
    if (!known) return { ...NOBODY_KNOWN, id };
    const name = member?.nick || known.global_name || known.username;
    const [bot, color, picture] = [Boolean(known.bot), this.#colorOf(member), known.avatar];
    return { id, name, bot, color, picture, me: id === this.me?.id, home: known.home };
  }

  /** The author of a message. A persona that posts through a webhook has its own name and colour. */
  author(message) {
    // Responses to commands have a webhook id too, but their author is the account.
    if (!message.webhook_id || this.members.has(message.author.id))
      return this.person(message.author.id, message.author);
    const same = this.listPeople().find((person) => person.name === message.author.username);
    return {
      sign: message.author.sign,
      id: message.author.id,
      name: message.author.username,
      bot: true,
      color: same?.color ?? 0,
      picture: message.author.avatar,
      me: false,
      webhook: true,
    };
  }

  listPeople() {
    return [...this.members.keys()].map((id) => this.person(id));
  }

  /** The colour of the highest role that has one. */
  #colorOf(member) {
    const colored = (member?.roles ?? []).map((id) => this.roles.get(id)).filter((role) => role?.color);
    return colored.sort((a, b) => b.position - a.position)[0]?.color ?? 0;
  }

  presence(id) {
    return this.presences.get(id) ?? { status: "offline", activities: [] };
  }

  history(channelId) {
    if (!this.#histories.has(channelId)) this.#histories.set(channelId, new History(channelId));
    return this.#histories.get(channelId);
  }

  /** Who is typing in a channel now, without this person. */
  listTyping(channelId, now = Date.now()) {
    const typing = this.#typing.get(channelId) ?? new Map();
    return [...typing].filter(([id, until]) => until > now && id !== this.me?.id).map(([id]) => this.person(id));
  }

  /** What an app says that it is doing in a channel: `{ text, stops }`, whether a person can stop it. */
  doing(channelId) {
    return this.#doing.get(channelId) ?? { text: "", stops: false };
  }

  changed(channelId) {
    this.emit(`history:${channelId}`);
  }

  // ---- events

  /** Applies one gateway event. Unknown events are ignored. */
  apply(type, data) {
    EVENTS[type]?.call(this, data);
  }

  start({ user, private_channels: direct = [] }) {
    this.me = user;
    // A new session has missed events, so everything is loaded again.
    for (const [id, history] of this.#histories) {
      history.clear();
      this.changed(id);
    }
    for (const channel of direct) this.channels.set(channel.id, channel);
    this.emit("ready");
  }

  enter(guild) {
    this.guild = guild;
    this.reads = new Reads(guild.id, this.me.id);
    for (const [id, channel] of this.channels) if (channel.type !== CHANNEL.DM) this.channels.delete(id);
    for (const channel of [...guild.channels, ...(guild.threads ?? [])]) this.channels.set(channel.id, channel);
    this.roles = new Map(guild.roles.map((role) => [role.id, role]));
    this.members = new Map(guild.members.map((member) => [member.user.id, member]));
    this.presences = new Map((guild.presences ?? []).map((presence) => [presence.user.id, presence]));
    this.emit("guild");
    this.emit("channels");
    this.emit("people");
  }

  putChannel(channel) {
    this.channels.set(channel.id, { ...this.channels.get(channel.id), ...channel });
    this.emit("channels");
    // A thread's original message shows its name and number of messages.
    if (this.isThread(channel)) this.#touchStarter(channel);
  }

  #touchStarter(thread) {
    const parent = this.#histories.get(thread.parent_id);
    if (parent?.touch(thread.id)) this.changed(thread.parent_id);
  }

  dropChannel({ id }) {
    const channel = this.channels.get(id);
    this.channels.delete(id);
    this.#histories.delete(id);
    if (channel && this.isThread(channel)) this.#touchStarter(channel);
    this.emit("channels");
    this.emit("channel deleted", id);
  }

  receive(message) {
    const history = this.history(message.channel_id);
    const own = message.author.id === this.me?.id;
    if (message.nonce) history.pending = history.pending.filter((sent) => sent.nonce !== String(message.nonce));
    if (history.atEnd || !history.loaded) history.insert([message]);
    this.#typing.get(message.channel_id)?.delete(message.author.id);
    const channel = this.channels.get(message.channel_id);
    const ephemeral = (message.flags & 64) !== 0;
    if (channel && !ephemeral) {
      channel.last_message_id = message.id;
      if (this.isThread(channel) && message.type !== THREAD_STARTER) {
        channel.message_count = (channel.message_count ?? 0) + 1;
        this.#touchStarter(channel);
      }
    }
    if (own) this.reads.mark(message.channel_id, message.id);
    else if (this.#addresses(message, channel)) this.reads.addMention(message.channel_id);
    this.changed(message.channel_id);
    this.emit("typing", message.channel_id);
    this.emit("channels");
    this.emit("message", message);
  }

  #addresses(message, channel) {
    return channel?.type === CHANNEL.DM || this.mentionsMe(message);
  }

  mentionsMe(message) {
    if (message.author.id === this.me?.id) return false;
    return message.mention_everyone || (message.mentions ?? []).some((user) => user.id === this.me?.id);
  }

  revise(change) {
    // A partial update may have no author. A complete one replaces the message.
    if (this.history(change.channel_id).update(change)) this.changed(change.channel_id);
  }

  removeMessages(channelId, ids) {
    const history = this.history(channelId);
    for (const id of ids) history.remove(id);
    this.changed(channelId);
  }

  react({ channel_id: channelId, message_id: messageId, user_id: userId, emoji }, step) {
    const history = this.history(channelId);
    const message = history.find(messageId);
    if (!message) return;
    const reactions = (message.reactions ?? []).map((reaction) => ({ ...reaction }));
    let reaction = reactions.find((candidate) => sameEmoji(candidate.emoji, emoji));
    if (!reaction) reactions.push((reaction = { emoji, count: 0, me: false }));
    reaction.count += step;
    if (userId === this.me?.id) reaction.me = step > 0;
    history.update({ id: messageId, reactions: reactions.filter((candidate) => candidate.count > 0) });
    this.changed(channelId);
  }

  clearReactions({ channel_id: channelId, message_id: messageId, emoji }) {
    const message = this.history(channelId).find(messageId);
    if (!message) return;
    const reactions = emoji ? (message.reactions ?? []).filter((reaction) => !sameEmoji(reaction.emoji, emoji)) : [];
    this.history(channelId).update({ id: messageId, reactions });
    this.changed(channelId);
  }

  noteTyping({ channel_id: channelId, user_id: userId }) {
    if (!this.#typing.has(channelId)) this.#typing.set(channelId, new Map());
    this.#typing.get(channelId).set(userId, Date.now() + TYPING_MS);
    this.emit("typing", channelId);
    setTimeout(() => this.emit("typing", channelId), TYPING_MS + 50);
  }

  putDoing({ channel_id: channelId, text, stops }) {
    this.#doing.set(channelId, { text, stops });
    this.emit("typing", channelId);
  }

  putMember(member) {
    this.members.set(member.user.id, { ...this.members.get(member.user.id), ...member });
    this.emit("people");
  }

  putPresence(presence) {
    this.presences.set(presence.user.id, presence);
    this.emit("people");
  }

  putRole({ role }) {
    this.roles.set(role.id, role);
    this.emit("people");
  }
}

export function sameEmoji(a, b) {
  return a.id ? a.id === b.id : a.name === b.name;
}

const EVENTS = {
  READY: Store.prototype.start,
  GUILD_CREATE: Store.prototype.enter,
  CHANNEL_CREATE: Store.prototype.putChannel,
  CHANNEL_UPDATE: Store.prototype.putChannel,
  CHANNEL_DELETE: Store.prototype.dropChannel,
  THREAD_CREATE: Store.prototype.putChannel,
  THREAD_UPDATE: Store.prototype.putChannel,
  THREAD_DELETE: Store.prototype.dropChannel,
  MESSAGE_CREATE: Store.prototype.receive,
  MESSAGE_UPDATE: Store.prototype.revise,
  MESSAGE_DELETE({ channel_id: channelId, id }) {
    this.removeMessages(channelId, [id]);
  },
  MESSAGE_DELETE_BULK({ channel_id: channelId, ids }) {
    this.removeMessages(channelId, ids);
  },
  MESSAGE_REACTION_ADD(reaction) {
    this.react(reaction, 1);
  },
  MESSAGE_REACTION_REMOVE(reaction) {
    this.react(reaction, -1);
  },
  MESSAGE_REACTION_REMOVE_ALL: Store.prototype.clearReactions,
  MESSAGE_REACTION_REMOVE_EMOJI: Store.prototype.clearReactions,
  TYPING_START: Store.prototype.noteTyping,
  DOING: Store.prototype.putDoing,
  PRESENCE_UPDATE: Store.prototype.putPresence,
  GUILD_MEMBER_ADD: Store.prototype.putMember,
  GUILD_MEMBER_UPDATE: Store.prototype.putMember,
  GUILD_MEMBER_REMOVE({ user }) {
    this.members.delete(user.id);
    this.emit("people");
  },
  GUILD_ROLE_CREATE: Store.prototype.putRole,
  GUILD_ROLE_UPDATE: Store.prototype.putRole,
};
