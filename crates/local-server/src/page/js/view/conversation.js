// One open channel: heading, messages, typing indicator and composer.

import { CHANNEL } from "../state/store.js";
import { Composer } from "./writing/composer.js";
import { h } from "./elements/dom.js";
import { icon } from "./elements/icons.js";
import { Timeline } from "./log/timeline.js";

export class Conversation {
  #page;
  #typing = h("p", { class: "typing", "aria-live": "polite" });
  #ends;

  /** `before` and `after` are additional elements of the heading. */
  constructor(page, channel, { before = [], after = [] } = {}) {
    this.#page = page;
    this.channel = channel;
    this.timeline = new Timeline(page, channel);
    this.composer = new Composer(page, channel, this.timeline);
    const label = page.store.channelName(channel);
    const heading = h(
      "header",
      { class: "heading" },
      before,
      icon(iconOf(channel, page)),
      h("h2", {}, label),
      channel.topic ? h("p", { class: "topic" }, channel.topic) : null,
      h("span", { class: "space" }),
      after,
    );
    const drop = h("div", { class: "drop", "aria-hidden": "true" }, h("p", {}, `Drop files into ${label}`));
    this.element = h(
      "section",
      { class: "conversation", "aria-label": label },
      heading,
      this.timeline.element,
      this.composer.element,
      this.#typing,
      drop,
    );
    this.#acceptDrops();
    this.#ends = [page.store.on("typing", (id) => id === channel.id && this.#showTyping())];
    this.#showTyping();
  }

  close() {
    this.timeline.close();
    for (const end of this.#ends) end();
    this.element.remove();
  }

  #showTyping() {
    const { store, service } = this.#page;
    const names = store.listTyping(this.channel.id).map((person) => person.name);
    const { text, stops } = store.doing(this.channel.id);
    const stop = () => this.#page.attempt(service.stopWork(this.channel.id));
    const button = stops ? h("button", { type: "button", class: "quiet", onclick: stop }, "Stop") : "";
    this.#typing.replaceChildren(text || describeTyping(names), button);
  }

  #acceptDrops() {
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    this.element.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.element.classList.add("dropping");
    });
    this.element.addEventListener("dragleave", (event) => {
      if (!this.element.contains(event.relatedTarget)) this.element.classList.remove("dropping");
    });
    this.element.addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.element.classList.remove("dropping");
      this.composer.addFiles([...event.dataTransfer.files]);
    });
  }
}

function iconOf(channel, page) {
  if (channel.type === CHANNEL.DM) return "at";
  return page.store.isThread(channel) ? "thread" : "hash";
}

function describeTyping(names) {
  if (!names.length) return "";
  if (names.length === 1) return `${names[0]} is typing…`;
  if (names.length > 3) return "Several people are typing…";
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)} are typing…`;
}
