// The local Discord as the page uses it. `protocol/slack/slack.js` offers the same for the local Slack.
//
// Events: `dispatch` ({ type, data }), an event of Discord's gateway, and `status` (see `gateway.js`).

import { PAGE } from "../../state/messages.js";
import { parse } from "../../text/markdown.js";
import { Api } from "./api.js";
import { Gateway } from "./gateway.js";
import { Interactions } from "./interactions.js";

export class Discord extends EventTarget {
  #api;
  #gateway;
  /** How the platform differs from the other one, for the views. */
  traits = {
    name: "Discord",
    label: "sandbox",
    tag: "BOT",
    maxLength: 2000,
    quotes: true,
    namedThreads: true,
    threadsInDirect: false,
    command: (name) => `/${name}`,
  };
  /** How texts are written. */
  dialect = { parse, editable: (content) => content };

  constructor(me, store) {
    super();
    this.#api = new Api(me.token);
    this.#gateway = new Gateway(location.origin.replace(/^http/, "ws"), me.token);
    this.interactions = new Interactions(this.#api, store, this.#gateway);
    for (const type of ["dispatch", "status"])
      this.#gateway.addEventListener(type, ({ detail }) => this.dispatchEvent(new CustomEvent(type, { detail })));
  }

  connect() {
    this.#gateway.connect();
  }

  /** A page of messages, by `before`, `after` or `around`. */
  listMessages(channelId, range = {}) {
    const query = Object.entries(range).map(([name, id]) => `&${name}=${id}`);
    return this.#api.get(`/channels/${channelId}/messages?limit=${PAGE}${query.join("")}`);
  }

  /** The newest messages with all the words, wherever this person may read, and how many there are. */
  async searchMessages(words) {
    const { count, found } = await this.#api.search(words);
    return { count, found: found.map(({ channel_id: channelId, ...message }) => ({ ...message, channelId })) };
  }

  /** A channel or thread that the gateway did not report, such as an archived thread. */
  findChannel(id) {
    return this.#api.get(`/channels/${id}`);
  }

  post(channelId, sent, onProgress) {
    const body = { content: sent.content, nonce: sent.nonce, enforce_nonce: true };
    if (sent.reply)
      body.message_reference = { message_id: sent.reply.id, channel_id: channelId, fail_if_not_exists: false };
    const path = `/channels/${channelId}/messages`;
    return sent.files.length ? this.#api.upload("POST", path, body, sent.files, onProgress) : this.#api.post(path, body);
  }

  edit(message, content) {
    return this.#api.patch(`/channels/${message.channel_id}/messages/${message.id}`, { content });
  }

  delete(message) {
    return this.#api.delete(`/channels/${message.channel_id}/messages/${message.id}`);
  }

  setReaction(message, emoji, on) {
    const name = encodeURIComponent(emoji.id ? `${emoji.name}:${emoji.id}` : emoji.name);
    const path = `/channels/${message.channel_id}/messages/${message.id}/reactions/${name}/@me`;
    return on ? this.#api.put(path) : this.#api.delete(path);
  }

  startThread(message, name) {
    const path = `/channels/${message.channel_id}/messages/${message.id}/threads`;
    return this.#api.post(path, { name, auto_archive_duration: 1440 });
  }

  openDirect(userId) {
    return this.#api.post("/users/@me/channels", { recipient_id: userId });
  }

  noteTyping(channelId) {
    return this.#api.post(`/channels/${channelId}/typing`);
  }

  /** A command that was written as a message. Discord has forms for commands instead. */
  runWritten() {
    return null;
  }
}
