// Actions for the hovered or focused message: one toolbar for the whole timeline, and single keys.

import { h, iconButton } from "../elements/dom.js";
import { icon } from "../elements/icons.js";
import { isEphemeral, isSpoken } from "./message.js";
import { askText, choose, confirm, pickEmoji } from "../dialogs/dialogs.js";
import { plainText } from "../../text/render.js";

// A thread's name may have 100 characters. Suggested names are shorter.
const THREAD_NAME = 48;

export class MessageActions {
  #page;
  #timeline;
  #bar = h("div", { class: "actions", role: "toolbar", "aria-label": "Message actions" });

  constructor(page, timeline) {
    this.#page = page;
    this.#timeline = timeline;
    const { scroller } = timeline;
    scroller.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.#show(event.target));
    scroller.addEventListener("focusin", (event) => this.#show(event.target));
    scroller.addEventListener("click", (event) => this.#show(event.target));
    scroller.addEventListener("pointerleave", () => this.#bar.contains(document.activeElement) || this.#bar.remove());
  }

  #show(target) {
    const article = target.closest?.("article.message");
    if (!article || article.querySelector("textarea") || article.contains(this.#bar)) return;
    const message = this.#timeline.history.find(article.dataset.id);
    if (!message || isEphemeral(message)) return this.#bar.remove();
    this.#bar.replaceChildren(
      ...this.#list(message).map(({ name, label, key, run }) =>
        iconButton(icon(name), label, run, { "aria-keyshortcuts": key }),
      ),
    );
    return article.append(this.#bar);
  }

  #list(message) {
    const own = message.author.id === this.#page.store.me.id && !message.webhook_id;
    const { quotes, threadsInDirect } = this.#page.traits;
    const { channel } = this.#timeline;
    const threads = !this.#page.store.isThread(channel) && (channel.type === 0 || threadsInDirect);
    return [
      { name: "smile", label: "React", key: "+", run: () => this.#react(message) },
      quotes && { name: "reply", label: "Reply", key: "r", run: () => this.#page.reply(message) },
      threads && { name: "thread", label: "Thread", key: "t", run: () => this.#thread(message) },
      this.#page.interactions.listOffers().length && { name: "menu", label: "More", key: "m", run: () => this.#offer(message) },
      own && { name: "edit", label: "Edit", key: "e", run: () => this.#timeline.edit(message.id) },
      { name: "copy", label: "Copy text", key: "c", run: () => this.#copy(message) },
      own && { name: "trash", label: "Delete", key: "Delete", run: () => this.#delete(message) },
    ].filter(Boolean);
  }

  /** Handles a single key while a message has the focus. */
  key(event) {
    const message = this.#timeline.history.find(event.target.dataset?.id ?? "");
    if (!message || !isSpoken(message) || isEphemeral(message) || event.ctrlKey || event.metaKey || event.altKey)
      return;
    const action = this.#list(message).find(({ key }) => key === event.key);
    if (!action) return;
    event.preventDefault();
    action.run();
  }

  async #react(message) {
    const emoji = await pickEmoji();
    if (emoji) await this.#page.attempt(this.#page.messages.toggleReaction(message, { name: emoji }));
  }

  async #offer(message) {
    const chosen = await choose("More", this.#page.interactions.listOffers());
    if (chosen) await this.#page.attempt(this.#page.interactions.takeOffer(message, chosen));
  }

  async #thread(message) {
    if (this.#page.store.channels.has(message.id)) return this.#page.openChannel(message.id);
    const words = plainText(message.content, this.#page.names).slice(0, THREAD_NAME).trim() || "New thread";
    const name = !this.#page.traits.namedThreads ? words : await askText({
      title: "Start a thread",
      label: "Name",
      value: words,
      action: "Start thread",
      max: 100,
    });
    if (!name) return undefined;
    const thread = await this.#page.attempt(this.#page.messages.startThread(message, name));
    return thread && this.#page.openChannel(thread.id);
  }

  async #copy(message) {
    try {
      await navigator.clipboard.writeText(this.#page.names.editable(message.content));
      this.#page.notify("Copied.");
    } catch {
      this.#page.notify("Could not copy: the browser did not allow it.");
    }
  }

  async #delete(message) {
    const sure = await confirm({
      title: "Delete this message?",
      text: plainText(message.content, this.#page.names).slice(0, 200) || "It has no text.",
      action: "Delete",
    });
    if (sure) await this.#page.attempt(this.#page.messages.delete(message));
  }
}
