// The local Slack as the page uses it. `protocol/discord/discord.js` offers the same for the local Discord.
//
// Events: `dispatch` ({ type, data }), an event as Discord's gateway would send it, and `status` (see `live.js`).

import { PAGE } from "../../state/messages.js";
import { editable, parse } from "../../text/mrkdwn.js";
import { plainText } from "../../text/render.js";
import { Api } from "./api.js";
import { idOf, tsOf } from "./ids.js";
import { Interactions } from "./interactions.js";
import { Live } from "./live.js";
import { toFile, toMessage, toStarter, toThread } from "./messages.js";

const DIRECT = new Set(["direct", "group"]);

export class Slack extends EventTarget {
  #api;
  #live;
  #emojis;
  #names;
  #team = { url: "" };
  /** For each thread, its conversation and what `toThread` made of it. */
  #threads = new Map();
  users = new Map();
  channels = new Map();
  commands = [];
  shortcuts = [];
  me = "";
  /** How the platform differs from the other one, for the views. */
  traits = {
    name: "Slack",
    label: "Slack sandbox",
    tag: "APP",
    maxLength: 12_000,
    quotes: false,
    namedThreads: false,
    threadsInDirect: true,
    command: (name) => `${this.commands[0]?.command ?? "/"} ${name}`,
  };
  /** How texts are written. */
  dialect = {
    parse,
    editable,
    emoji: (name) => this.emoji(name),
    address: (href) => this.#ownAddress(href),
  };

  /** Emojis have names in Slack, which are loaded first. */
  static async start(me) {
    const api = new Api(me.token);
    return new Slack(me, api, await api.get("/emojis"));
  }

  constructor(me, api, emojis) {
    super();
    this.#api = api;
    this.#emojis = new Map(Object.entries(emojis));
    this.#names = new Map([...this.#emojis].reverse().map(([name, emoji]) => [emoji, name]));
    this.interactions = new Interactions(api, this);
    this.#live = new Live(me.token);
    this.#live.addEventListener("frame", ({ detail }) => this.#receive(detail));
    this.#live.addEventListener("status", ({ detail }) => this.dispatchEvent(new CustomEvent("status", { detail })));
  }

  connect() {
    this.#live.connect();
  }

  /** The character of an emoji, or its name between colons. */
  emoji = (name, otherwise = `:${name}:`) => this.#emojis.get(name) ?? otherwise;

  /** The conversation and thread of a place of the page. */
  placeOf(channelId) {
    const thread = this.#threads.get(channelId);
    return thread ? { channel: thread.parent_id, thread: tsOf(channelId) } : { channel: channelId };
  }

  // ---- what people do

  async listMessages(channelId, range = {}) {
    const { channel, thread } = this.placeOf(channelId);
    const query = new URLSearchParams({ limit: PAGE, ...(thread ? { thread } : {}) });
    for (const [name, id] of Object.entries(range)) query.set(name, tsOf(id));
    const { messages } = await this.#api.get(`/channels/${channel}/messages?${query}`);
    return messages.map((message) => this.#shown(message, channelId));
  }

  /** The newest messages with all the words, wherever this person may read, and how many there are. */
  async searchMessages(words) {
    const { count, found } = await this.#api.get(`/search?${new URLSearchParams({ text: words })}`);
    const show = ({ message, text }) => {
      const isReply = message.thread_ts && message.thread_ts !== message.ts && message.subtype !== "thread_broadcast";
      const channelId = isReply ? idOf(message.thread_ts) : message.channel;
      return { ...toMessage(message, channelId, this), channelId, text };
    };
    return { count, found: found.map(show) };
  }

  /** `ready` has reported all of them. */
  findChannel() {
    throw new Error("this conversation does not exist any more");
  }

  /** The page's id of a part of an address, in which a message has Slack's timestamp. */
  toId(part) {
    return part.includes(".") ? idOf(part) : part;
  }

  async post(channelId, { content, files }, onProgress) {
    const { channel, thread } = this.placeOf(channelId);
    if (!files.length)
      return this.#shown(await this.#api.post(`/channels/${channel}/messages`, { text: content, thread }), channelId);
    const form = new FormData();
    form.append("text", content);
    if (thread) form.append("thread", thread);
    for (const file of files) form.append("file", file, file.name);
    return this.#shown(await this.#api.upload(`/channels/${channel}/files`, form, onProgress), channelId);
  }

  /** A command that was written as a message. Null if it is none. */
  runWritten(channelId, content) {
    const [word] = content.split(/\s/, 1);
    if (!this.commands.some(({ command }) => command === word)) return null;
    return this.#api.post(`/channels/${this.placeOf(channelId).channel}/commands`, { line: content });
  }

  edit(message, content) {
    return this.#api.put(this.messagePath(message), { text: content });
  }

  delete(message) {
    return this.#api.delete(this.messagePath(message));
  }

  setReaction(message, emoji, on) {
    const name = encodeURIComponent(emoji.slack ?? this.#names.get(emoji.name) ?? emoji.name);
    const path = `${this.messagePath(message)}/reactions/${name}`;
    return on ? this.#api.put(path) : this.#api.delete(path);
  }

  messagePath(message) {
    return `/channels/${this.placeOf(message.channel_id).channel}/messages/${tsOf(message.id)}`;
  }

  /** Nothing is stored until somebody answers. */
  startThread(message) {
    const { channel } = this.placeOf(message.channel_id);
    return this.#keepThread({ channel, ts: tsOf(message.id), text: message.content });
  }

  async openDirect(userId) {
    return this.#toChannel(await this.#api.post("/direct", { users: [userId] }));
  }

  /** Stops the app that works in a thread. */
  stopWork(channelId) {
    const { channel, thread } = this.placeOf(channelId);
    return this.#api.post(`/channels/${channel}/messages/${thread}/stop`);
  }

  /** Slack tells nobody who is typing. */
  noteTyping() {
    return null;
  }

  // ---- what the server reports

  #receive(frame) {
    switch (frame.type) {
      case "ready":
        return this.#ready(frame);
      case "user":
        return this.#putUser(frame.user);
      case "channel":
        return this.#putChannel(frame.channel);
      case "message":
        return this.#putMessage(frame.message, frame.is_new);
      case "message_gone":
        return this.#dropMessage(frame);
      case "doing":
        return this.#putDoing(frame);
      default:
        return this.interactions.receive(frame);
    }
  }

  #ready({ me, team, users, channels, threads, doing, commands, shortcuts, views }) {
    this.me = me;
    this.#team = team;
    this.users = new Map(users.map((user) => [user.id, user]));
    this.channels = new Map(channels.map((channel) => [channel.id, channel]));
    this.commands = commands;
    this.shortcuts = shortcuts;
    this.#threads.clear();
    const shown = channels.filter((channel) => !channel.archived);
    const direct = shown.filter(({ kind }) => DIRECT.has(kind)).map((channel) => this.#toChannel(channel));
    this.#dispatch("READY", { user: this.#toUser(me), private_channels: direct });
    this.#dispatch("GUILD_CREATE", {
      id: team.id,
      name: team.name,
      channels: shown.filter(({ kind }) => !DIRECT.has(kind)).map((channel) => this.#toChannel(channel)),
      threads: threads.map((thread) => this.#keepThread(thread)),
      roles: [],
      members: users.filter((user) => !user.is_deactivated).map(({ id }) => ({ user: this.#toUser(id), roles: [] })),
      presences: users.map((user) => ({ user: { id: user.id }, status: user.is_online ? "online" : "offline" })),
    });
    for (const thread of doing) this.#putDoing(thread);
    this.interactions.ready(views);
  }

  /** What an app says that it is doing in a thread. */
  #putDoing({ thread, text, stops }) {
    return this.#dispatch("DOING", { channel_id: idOf(thread), text, stops });
  }

  #putUser(user) {
    this.users.set(user.id, user);
    if (user.is_deactivated) return this.#dispatch("GUILD_MEMBER_REMOVE", { user });
    this.#dispatch("GUILD_MEMBER_UPDATE", { user: this.#toUser(user.id), roles: [] });
    return this.#dispatch("PRESENCE_UPDATE", { user: { id: user.id }, status: user.is_online ? "online" : "offline" });
  }

  #putChannel(channel) {
    if (!channel.is_member || channel.archived) {
      this.channels.delete(channel.id);
      return this.#dispatch("CHANNEL_DELETE", { id: channel.id });
    }
    this.channels.set(channel.id, channel);
    return this.#dispatch("CHANNEL_UPDATE", this.#toChannel(channel));
  }

  #putMessage(message, isNew) {
    const { channel, ts, thread_ts: thread } = message;
    const event = isNew ? "MESSAGE_CREATE" : "MESSAGE_UPDATE";
    const isReply = thread && thread !== ts;
    if (isReply) this.#dispatch(event, toMessage(message, idOf(thread), this));
    if (!isReply || message.subtype === "thread_broadcast") this.#dispatch(event, toMessage(message, channel, this));
    if (isReply) {
      // The page increases the number for each reply, so the server's own number is sent last.
      if (this.#threads.has(idOf(thread))) this.#dispatch("THREAD_UPDATE", this.#threads.get(idOf(thread)));
    } else if (thread) {
      this.#dispatch("THREAD_UPDATE", this.#keepThread(message));
      this.#dispatch("MESSAGE_UPDATE", toStarter(message, this));
    }
  }

  #dropMessage({ channel, ts }) {
    const id = idOf(ts);
    const threads = [...this.#threads.values()].filter((thread) => thread.parent_id === channel);
    for (const place of [channel, ...threads.map((thread) => thread.id)])
      this.#dispatch("MESSAGE_DELETE", { channel_id: place, id });
    if (this.#threads.delete(id)) this.#dispatch("THREAD_DELETE", { id });
  }

  // ---- conversion to the page's form

  #shown(message, channelId) {
    const isParent = message.thread_ts === message.ts;
    if (isParent) this.#dispatch("THREAD_UPDATE", this.#keepThread(message));
    const isStarter = idOf(message.ts) === channelId;
    return isStarter ? toStarter(message, this) : toMessage(message, channelId, this);
  }

  #keepThread(message) {
    const thread = toThread(message, (text) => plainText(text, this.#plainNames()));
    this.#threads.set(thread.id, thread);
    return thread;
  }

  #plainNames() {
    const user = (id) => ({ name: this.users.get(id)?.name ?? "unknown" });
    return { ...this.dialect, user, channel: (id) => this.channels.get(id), role: () => null };
  }

  #toUser(id) {
    const user = this.users.get(id);
    return { id, username: user?.name ?? "unknown", bot: user?.is_bot, home: user?.has_home ? user.app : null };
  }

  #toChannel({ id, name, kind, created, members, last }) {
    const last_message_id = last ? idOf(last) : null;
    if (!DIRECT.has(kind)) return { id, name, type: 0, position: created, last_message_id };
    const others = members.filter((member) => member !== this.me);
    return { id, type: 1, recipients: others.map((member) => this.#toUser(member)), last_message_id };
  }

  /** A file's address on slack.com leads to the local file. */
  #ownAddress(href) {
    if (!this.#team.url || !href.startsWith(`${this.#team.url}files/`)) return href;
    const [, id, name] = href.slice(`${this.#team.url}files/`.length).split("/");
    return toFile({ id, name: decodeURIComponent(name ?? "file") }).url;
  }

  #dispatch(type, data) {
    this.dispatchEvent(new CustomEvent("dispatch", { detail: { type, data } }));
  }
}
