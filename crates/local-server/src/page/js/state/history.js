// The loaded messages of one channel, oldest first: up to the newest one (`atEnd`), or a part of the history around a
// message.

import { compareIds } from "../text/time.js";

export class History {
  messages = [];
  /** Own messages that are not confirmed: `{ nonce, content, files, reply, error, progress }`. */
  pending = [];
  atStart = false;
  atEnd = false;
  loaded = false;
  #ids = new Map();

  constructor(channelId) {
    this.channelId = channelId;
  }

  find(id) {
    return this.#ids.get(id) ?? null;
  }

  get last() {
    return this.messages.at(-1) ?? null;
  }

  /** The index of `id`, or the index at which it would be inserted. */
  indexOf(id) {
    let low = 0;
    let high = this.messages.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareIds(this.messages[middle].id, id) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Adds messages in any order. Known messages are replaced, so duplicate frames do no harm. */
  insert(messages) {
    for (const message of messages) {
      if (this.#ids.has(message.id)) {
        this.update(message);
        continue;
      }
      message.revision = 0;
      this.#ids.set(message.id, message);
      // Nearly every message is the newest one.
      if (!this.last || compareIds(this.last.id, message.id) < 0) this.messages.push(message);
      else this.messages.splice(this.indexOf(message.id), 0, message);
    }
  }

  /** Merges a partial message of a gateway update. */
  update(change) {
    const message = this.#ids.get(change.id);
    if (!message) return null;
    Object.assign(message, change, { revision: message.revision + 1 });
    return message;
  }

  touch(id) {
    return this.update({ id });
  }

  remove(id) {
    if (!this.#ids.delete(id)) return false;
    this.messages.splice(this.indexOf(id), 1);
    return true;
  }

  clear() {
    this.messages = [];
    this.#ids.clear();
    this.atStart = this.atEnd = this.loaded = false;
  }
}
