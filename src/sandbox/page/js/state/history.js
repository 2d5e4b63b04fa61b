// The known messages of one channel, oldest first. It is either attached to the live end
// (`atEnd`) or a stretch of the past that somebody jumped to.

import { compareIds } from "../text/time.js";

export class History {
  messages = [];
  /** Own messages on their way: `{ nonce, content, files, reply, error, progress }`. */
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

  /** The place of `id`, or where it would stand if it is not there. */
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

  /** Adds messages in any order; what is already known is replaced, so a duplicate frame does no harm. */
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

  /** Merges a partial message, as updates of the gateway are. */
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
