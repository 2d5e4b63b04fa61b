// Actions with messages: load, send, retry, edit, delete, react, start threads.

import { timeOf } from "../text/time.js";

export const PAGE = 50;
// Discord's limits for people, and plenty for Slack's: 10 MiB a file, 25 MiB a request.
export const MAX_FILE = 10 * 1024 * 1024;
export const MAX_REQUEST = 25 * 1024 * 1024;
// The indicator lasts about ten seconds, so it is sent again a little earlier.
const TYPING_EVERY_MS = 8000;

let counter = 0;

/** A nonce: the time and a counter, like a snowflake. */
export function makeNonce() {
  counter = (counter + 1) % 4096;
  return String((BigInt(Date.now() - timeOf("0").getTime()) << 22n) | BigInt(counter));
}

export class Messages {
  #service;
  #store;
  #loading = new Map();
  #typed = new Map();

  constructor(service, store) {
    this.#service = service;
    this.#store = store;
  }

  /** The newest page, if the channel was not loaded yet. */
  open(channelId) {
    const history = this.#store.history(channelId);
    if (history.loaded && history.atEnd) return Promise.resolve();
    return this.#once(`${channelId}:latest`, async () => {
      const page = await this.#page(channelId);
      history.clear();
      history.insert(page);
      Object.assign(history, { loaded: true, atEnd: true, atStart: page.length < PAGE });
      this.#store.changed(channelId);
    });
  }

  loadOlder(channelId) {
    const history = this.#store.history(channelId);
    if (history.atStart || !history.messages.length) return Promise.resolve();
    return this.#once(`${channelId}:older`, async () => {
      const page = await this.#page(channelId, { before: history.messages[0].id });
      history.insert(page);
      history.atStart = page.length < PAGE;
      this.#store.changed(channelId);
    });
  }

  loadNewer(channelId) {
    const history = this.#store.history(channelId);
    if (history.atEnd || !history.last) return Promise.resolve();
    return this.#once(`${channelId}:newer`, async () => {
      const page = await this.#page(channelId, { after: history.last.id });
      history.insert(page);
      history.atEnd = page.length < PAGE;
      this.#store.changed(channelId);
    });
  }

  /** Makes sure `messageId` is among the loaded messages, if it still exists. */
  async loadAround(channelId, messageId) {
    const history = this.#store.history(channelId);
    // The newest page, if it came later, would replace this one.
    await this.#loading.get(`${channelId}:latest`)?.catch(() => {});
    if (history.find(messageId)) return;
    const page = await this.#page(channelId, { around: messageId });
    if (!page.some((message) => message.id === messageId)) throw new Error("that message was deleted");
    history.clear();
    history.insert(page);
    Object.assign(history, { loaded: true, atStart: false, atEnd: false });
    this.#store.changed(channelId);
  }

  #page(channelId, range = {}) {
    return this.#service.listMessages(channelId, range);
  }

  /** One request of a kind at a time. Further callers wait for the same one. */
  #once(key, work) {
    if (!this.#loading.has(key))
      this.#loading.set(
        key,
        work().finally(() => this.#loading.delete(key)),
      );
    return this.#loading.get(key);
  }

  /** Shows the message as pending. After an error it stays with the reason until it is retried or discarded. */
  send(channelId, { content, files = [], reply = null }) {
    const sent = { nonce: makeNonce(), content, files, reply, error: null, progress: null };
    this.#store.history(channelId).pending.push(sent);
    return this.retry(channelId, sent);
  }

  async retry(channelId, sent) {
    sent.error = null;
    this.#store.changed(channelId);
    try {
      const message = await this.#service.post(channelId, sent, (share) => this.#progress(channelId, sent, share));
      this.#settle(channelId, sent, message);
    } catch (error) {
      sent.error = error.message;
      sent.progress = null;
      this.#store.changed(channelId);
    }
  }

  #progress(channelId, sent, share) {
    sent.progress = share;
    this.#store.changed(channelId);
  }

  /** The gateway event usually comes first. The response is needed while the gateway reconnects. */
  #settle(channelId, sent, message) {
    const history = this.#store.history(channelId);
    if (history.find(message.id)) this.discard(channelId, sent);
    else this.#store.receive({ ...message, nonce: sent.nonce });
  }

  discard(channelId, sent) {
    const history = this.#store.history(channelId);
    history.pending = history.pending.filter((other) => other !== sent);
    this.#store.changed(channelId);
  }

  edit(message, content) {
    return this.#service.edit(message, content);
  }

  async delete(message) {
    await this.#service.delete(message);
    this.#store.removeMessages(message.channel_id, [message.id]);
  }

  toggleReaction(message, emoji) {
    const mine = message.reactions?.find((reaction) => reaction.emoji.name === emoji.name)?.me;
    return this.#service.setReaction(message, emoji, !mine);
  }

  async startThread(message, name) {
    const thread = await this.#service.startThread(message, name);
    this.#store.putChannel(thread);
    return thread;
  }

  async openDirect(userId) {
    const channel = await this.#service.openDirect(userId);
    this.#store.putChannel(channel);
    return channel;
  }

  /** Sends the typing indicator. Errors are ignored. */
  noteTyping(channelId, now = Date.now()) {
    if (now - (this.#typed.get(channelId) ?? 0) < TYPING_EVERY_MS) return;
    this.#typed.set(channelId, now);
    this.#service.noteTyping(channelId)?.catch(() => {});
  }
}
