// The page: the open channel and thread, the drawers on small screens, global keys, and services that the views share.

import { Messages } from "./state/messages.js";
import { personaId } from "./state/store.js";
import { sentence } from "./text/sentence.js";
import { Conversation } from "./view/conversation.js";
import { showHelp } from "./view/dialogs/dialogs.js";
import { h, iconButton } from "./view/elements/dom.js";
import { icon } from "./view/elements/icons.js";
import { showModal } from "./view/dialogs/modal.js";
import { showSearch } from "./view/dialogs/search.js";
import { People, showPerson } from "./view/people.js";
import { Sidebar } from "./view/sidebar.js";
import { showSwitcher } from "./view/dialogs/switcher.js";

const NOTICE_MS = 6000;
const NARROW = matchMedia("(max-width: 760px)");
// Below this the members would take a third of the page.
const MEDIUM = matchMedia("(max-width: 1000px)");

export class Page {
  #main = null;
  #side = null;
  #regions = Object.fromEntries(
    ["sidebar", "main", "side", "people", "scrim", "notices"].map((id) => [id, document.getElementById(id)]),
  );

  constructor({ store, service, info, become }) {
    this.store = store;
    this.people = info.people;
    this.links = info.links;
    this.models = info.models;
    // What each persona does. A persona without an account of its own has no id.
    this.team = info.personas.filter(({ role }) => role);
    this.roles = new Map(this.team.map(({ id, name, role }) => [id ?? personaId(name), role]));
    this.become = become;
    this.service = service;
    this.traits = service.traits;
    this.messages = new Messages(service, store);
    this.interactions = service.interactions;
    this.interactions.onModal = (modal) => showModal(modal, this);
    this.names = {
      user: (id) => store.person(id),
      channel: (id) => store.channels.get(id),
      role: (id) => store.roles.get(id),
      ...service.dialect,
      openUser: (id) => this.openPerson(id),
      openChannel: (id) => this.openChannel(id),
    };
  }

  /** Renders everything. Called once, after the first events. */
  start() {
    new Sidebar(this, this.#regions.sidebar);
    new People(this, this.#regions.people);
    this.store.on("channel deleted", (id) => this.#channelDeleted(id));
    this.store.on("guild", () => this.#serverKnownAnew());
    addEventListener("hashchange", () => this.#followAddress());
    addEventListener("keydown", (event) => this.#key(event));
    addEventListener("focus", () =>
      this.#conversations().forEach(({ timeline }) => timeline.channel && this.store.changed(timeline.channel.id)),
    );
    NARROW.addEventListener("change", () => this.openDrawer(null));
    const fitMembers = () => document.body.classList.toggle("without-people", MEDIUM.matches && !NARROW.matches);
    MEDIUM.addEventListener("change", fitMembers);
    fitMembers();
    this.#regions.scrim.addEventListener("click", () => this.openDrawer(null));
    // Without this, a file dropped beside the conversation would make the browser leave the page.
    for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault());
    this.openDrawer(null);
    this.#followAddress();
  }

  // ---- where we are

  /**
   * The URL has the open channel and thread, so that Back and reloading work. A link from outside also has a message:
   * `#channel/thread/message`, or `#channel//message`.
   */
  #followAddress() {
    const toId = (part) => this.service.toId?.(part) ?? part;
    const [channelId, threadId, messageId] = location.hash.slice(1).split("/").map(toId);
    const known = this.store.channels.get(channelId);
    // Another page may name a thread alone, or a conversation that is not loaded.
    if (messageId && (!known || this.store.isThread(known) || (threadId && !this.store.channels.has(threadId)))) {
      this.openAt(threadId || channelId, messageId);
      if (this.#main) return;
    }
    const channel = known && !this.store.isThread(known) ? known : this.store.listChannels()[0];
    if (!channel) return;
    this.#showMain(channel);
    this.#showSide(this.store.channels.get(threadId) ?? null);
    this.store.emit("open");
    if (messageId && channel === known) this.openMessage(threadId || channelId, messageId);
  }

  /** Opens a message wherever it is. */
  async openAt(channelId, messageId) {
    const { channels } = this.store;
    if (!channels.has(channelId)) {
      const found = await this.attempt(Promise.resolve().then(() => this.service.findChannel(channelId)));
      if (!found) return;
      this.store.putChannel(found);
    }
    this.openDrawer(null);
    const channel = channels.get(channelId);
    const place = this.store.isThread(channel) ? `${channel.parent_id}/${channelId}` : `${channelId}/`;
    const address = `#${place}/${messageId}`;
    if (location.hash === address) await this.openMessage(channelId, messageId);
    else location.hash = address;
  }

  openChannel(id) {
    const channel = this.store.channels.get(id);
    if (!channel) return this.notify("This channel does not exist any more.");
    this.openDrawer(null);
    const address = this.store.isThread(channel) ? `#${channel.parent_id}/${id}` : `#${id}`;
    if (location.hash === address) this.focusComposer(id);
    else location.hash = address;
    return undefined;
  }

  async openMessage(channelId, messageId) {
    const conversation = this.#conversations().find(({ channel }) => channel.id === channelId);
    if (conversation) await this.attempt(conversation.timeline.show(messageId));
  }

  async openDirect(userId) {
    const channel = await this.attempt(this.messages.openDirect(userId));
    if (channel) this.openChannel(channel.id);
  }

  isOpen(channelId) {
    return this.#conversations().some(({ channel }) => channel.id === channelId);
  }

  #conversations() {
    return [this.#main, this.#side].filter(Boolean);
  }

  #showMain(channel) {
    if (this.#main?.channel.id === channel.id) return;
    this.#main?.close();
    const menu = iconButton(icon("menu"), "Channels", () => this.openDrawer("sidebar"), { class: "icon only-narrow" });
    const members = iconButton(icon("people"), "Members", () => this.#toggleMembers());
    this.#main = new Conversation(this, channel, { before: [menu], after: [members] });
    this.#regions.main.replaceChildren(this.#main.element);
    if (!NARROW.matches) this.#main.composer.focus();
  }

  #showSide(thread) {
    if (this.#side?.channel.id === thread?.id) return;
    this.#side?.close();
    this.#side = null;
    document.body.classList.toggle("with-side", Boolean(thread));
    if (!thread) {
      if (!NARROW.matches) this.#main?.composer.focus();
      return;
    }
    const close = iconButton(icon("close"), "Close thread", () => this.#closeThread());
    this.#side = new Conversation(this, thread, { after: [close] });
    this.#regions.side.replaceChildren(this.#side.element);
    if (!NARROW.matches) this.#side.composer.focus();
  }

  #closeThread() {
    location.hash = `#${this.#main.channel.id}`;
  }

  /** After a new session commands may have changed, and the open channel may be deleted. */
  #serverKnownAnew() {
    this.interactions.forgetCommands();
    for (const { channel } of this.#conversations())
      if (!this.store.channels.has(channel.id)) this.#channelDeleted(channel.id);
  }

  #channelDeleted(id) {
    if (this.#side?.channel.id === id) this.#closeThread();
    else if (this.#main?.channel.id === id) location.hash = `#${this.store.listChannels()[0]?.id ?? ""}`;
  }

  // ---- what views ask for

  reply(message) {
    this.#conversations()
      .find(({ channel }) => channel.id === message.channel_id)
      ?.composer.reply(message);
  }

  compose(channelId, text) {
    this.#conversations()
      .find(({ channel }) => channel.id === channelId)
      ?.composer.write(text);
  }

  mention(userId) {
    this.openDrawer(null);
    const conversation = this.#side ?? this.#main;
    conversation.composer.write(`<@${userId}> `);
  }

  /** Begins a message to a persona that is called by its name. */
  address(name) {
    this.openDrawer(null);
    (this.#side ?? this.#main).composer.write(`${name}, `);
  }

  focusComposer(channelId) {
    this.#conversations()
      .find(({ channel }) => channel.id === channelId)
      ?.composer.focus();
  }

  openPerson(id) {
    return showPerson(this, id);
  }

  openSwitcher() {
    this.openDrawer(null);
    return showSwitcher(this);
  }

  openSearch() {
    this.openDrawer(null);
    return showSearch(this);
  }

  /** Runs a request. On an error it shows the message and returns null. */
  async attempt(work) {
    try {
      return (await work) ?? null;
    } catch (error) {
      this.notify(sentence(error.message));
      return null;
    }
  }

  notify(text) {
    const notice = h("p", { class: "notice-card" }, text);
    this.#regions.notices.append(notice);
    setTimeout(() => notice.remove(), NOTICE_MS);
  }

  showUnreadInTitle() {
    const channels = [...this.store.channels.values()];
    const mentions = channels.reduce((sum, channel) => sum + this.store.reads.mentions(channel.id), 0);
    const here = this.#main ? this.store.channelName(this.#main.channel) : "";
    const unread = channels.some((channel) => this.store.reads.isUnread(channel));
    document.title = `${mentions ? `(${mentions}) ` : unread ? "• " : ""}${here} · Teamroom`;
  }

  // ---- small screens

  openDrawer(name) {
    document.body.dataset.drawer = name ?? "";
    this.#regions.scrim.hidden = !name;
    // A hidden drawer must not be in the Tab order.
    for (const region of ["sidebar", "people"]) this.#regions[region].inert = NARROW.matches && name !== region;
    this.#regions.main.inert = NARROW.matches && Boolean(name);
    if (name) this.#regions[name].querySelector("button")?.focus();
  }

  #toggleMembers() {
    if (NARROW.matches) this.openDrawer("people");
    else document.body.classList.toggle("without-people");
  }

  // ---- keys that work everywhere

  #key(event) {
    if (document.querySelector("dialog[open]")) return;
    const typing = event.target.matches?.("input, textarea, select");
    const isShortcut = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (isShortcut && event.key.toLowerCase() === "k") this.openSwitcher();
    else if (isShortcut && event.key.toLowerCase() === "f") this.openSearch();
    else if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown"))
      this.#step(event.key === "ArrowUp" ? -1 : 1, event.shiftKey);
    else if (event.key === "?" && !typing) showHelp(this.traits);
    else if (event.key === "Escape") this.#escape();
    else return;
    event.preventDefault();
  }

  #step(direction, unreadOnly) {
    const all = [...this.store.listChannels(), ...this.store.listDirect()];
    const at = all.findIndex((channel) => channel.id === this.#main?.channel.id);
    for (let step = 1; step <= all.length; step += 1) {
      const next = all[(at + direction * step + all.length * step) % all.length];
      if (unreadOnly && !this.store.reads.isUnread(next)) continue;
      this.openChannel(next.id);
      return;
    }
  }

  #escape() {
    if (document.body.dataset.drawer) this.openDrawer(null);
    else if (this.#side) this.#closeThread();
    else {
      this.#main?.timeline.markRead();
      this.#main?.timeline.goToEnd();
      this.#main?.composer.focus();
    }
  }
}
