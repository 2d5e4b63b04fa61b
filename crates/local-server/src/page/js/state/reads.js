// Read state per channel: the newest read message and the mentions since.
// It is stored in the browser, because the server has no read state.

import { compareIds } from "../text/time.js";

export class Reads {
  #key;
  #channels;

  constructor(guildId, userId) {
    this.#key = `teamroom.reads.${guildId}.${userId}`;
    this.#channels = readJson(this.#key) ?? {};
  }

  /** The newest message that was read, or null for a channel never opened. */
  lastRead(channelId) {
    return this.#channels[channelId]?.last ?? null;
  }

  isUnread(channel) {
    const last = this.lastRead(channel.id);
    if (!channel.last_message_id) return false;
    return last === null || compareIds(channel.last_message_id, last) > 0;
  }

  mentions(channelId) {
    return this.#channels[channelId]?.mentions ?? 0;
  }

  addMention(channelId) {
    const entry = this.#entry(channelId);
    entry.mentions += 1;
    this.#save();
  }

  /** Returns whether anything changed. */
  mark(channelId, messageId) {
    const entry = this.#entry(channelId);
    const newer = messageId && (entry.last === null || compareIds(messageId, entry.last) > 0);
    if (!newer && entry.mentions === 0) return false;
    if (newer) entry.last = messageId;
    entry.mentions = 0;
    this.#save();
    return true;
  }

  #entry(channelId) {
    return (this.#channels[channelId] ??= { last: null, mentions: 0 });
  }

  #save() {
    try {
      localStorage.setItem(this.#key, JSON.stringify(this.#channels));
    } catch {
      // Without storage the read state is lost on reload.
    }
  }
}

export function readJson(key, storage = localStorage) {
  try {
    return JSON.parse(storage.getItem(key));
  } catch {
    return null;
  }
}
