// The list of channels, threads and direct messages, and the person's account.

import { avatar } from "./elements/avatar.js";
import { h, hidden, iconButton } from "./elements/dom.js";
import { icon } from "./elements/icons.js";
import { showHelp, showModelHelp } from "./dialogs/dialogs.js";
import { toggleTheme } from "./elements/theme.js";

export class Sidebar {
  #page;
  #list = h("div", { class: "channels" });

  constructor(page, element) {
    this.#page = page;
    this.element = element;
    const jump = (picture, label, keys, onclick) =>
      h("button", { type: "button", class: "jump", onclick }, icon(picture), label, h("kbd", {}, keys));
    element.replaceChildren(
      h("header", { class: "brand" }, h("h1", {}, "Teamroom"), h("span", { class: "tag" }, page.traits.label)),
      jump("search", "Search…", "Ctrl F", () => page.openSearch()),
      jump("hash", "Go to…", "Ctrl K", () => page.openSwitcher()),
      ...page.links.map((link) => h("a", { class: "jump", href: link.url, target: "_blank", rel: "noopener" }, link.label)),
      ...(page.roles.size ? [this.#renderModels()] : []),
      this.#list,
      this.#renderAccount(),
    );
    for (const topic of ["channels", "people", "open"]) page.store.on(topic, () => this.#schedule());
    this.#draw();
  }

  /** The state of the language models. Without a team there is nothing to say about them. */
  #renderModels() {
    const { models } = this.#page;
    if (models) return h("p", { class: "jump", title: models }, h("span", { class: "label" }, models));
    return h("button", { type: "button", class: "jump", onclick: showModelHelp }, "Connect a model");
  }

  #frame = 0;

  #schedule() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #renderAccount() {
    const page = this.#page;
    const me = page.store.person(page.store.me.id);
    const others =
      page.people.length > 1 &&
      h(
        "select",
        { "aria-label": "Your account", onchange: (event) => page.become(event.target.value) },
        page.people.map((person) => h("option", { value: person.id, selected: person.id === me.id }, person.name)),
      );
    return h(
      "footer",
      { class: "account" },
      avatar(me),
      others || h("span", { class: "name" }, me.name),
      h("span", { class: "space" }),
      iconButton(icon("help"), "Keyboard help", () => showHelp(page.traits)),
      iconButton(icon("contrast"), "Light or dark", toggleTheme),
    );
  }

  #draw() {
    const { store } = this.#page;
    const focused = document.activeElement?.dataset?.channel;
    const channels = store
      .listChannels()
      .map((channel) => [
        this.#renderEntry(channel, "hash"),
        store.listThreads(channel.id).map((thread) => this.#renderEntry(thread, "thread")),
      ]);
    const direct = store.listDirect().map((channel) => this.#renderEntry(channel, "at"));
    this.#list.replaceChildren(h("h2", {}, "Channels"), h("ul", {}, channels.flat(2)));
    if (direct.length) this.#list.append(h("h2", {}, "Direct messages"), h("ul", {}, direct));
    if (focused) this.#list.querySelector(`[data-channel="${focused}"]`)?.focus();
    this.#page.showUnreadInTitle();
  }

  #renderEntry(channel, kind) {
    const { store } = this.#page;
    const open = this.#page.isOpen(channel.id);
    const mentions = store.reads.mentions(channel.id);
    const unread = store.reads.isUnread(channel);
    const other = kind === "at" ? store.person(channel.recipients?.[0]?.id, channel.recipients?.[0]) : null;
    const classes = ["channel", kind === "thread" && "nested", unread && "unread"].filter(Boolean).join(" ");
    return h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: classes,
          data: { channel: channel.id },
          "aria-current": open ? "page" : null,
          onclick: () => this.#page.openChannel(channel.id),
        },
        other ? avatar(other, "avatar small") : icon(kind),
        h("span", { class: "label" }, store.channelName(channel)),
        unread ? hidden(", unread") : null,
        mentions ? h("span", { class: "badge", "aria-label": `${mentions} ${mentions === 1 ? "mention" : "mentions"}` }, String(mentions)) : null,
      ),
    );
  }
}
