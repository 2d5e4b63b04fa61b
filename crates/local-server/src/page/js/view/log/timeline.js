// The messages of one channel. Only a window of the history is in the document. It moves while the reader scrolls,
// without moving the visible messages.

import { compareIds, formatDay, sameDay, timeOf } from "../../text/time.js";
import { h } from "../elements/dom.js";
import { icon } from "../elements/icons.js";
import { MessageActions } from "../message/actions.js";
import { renderEditor } from "../message/editor.js";
import { renderIntro } from "./intro.js";
import { continues, renderMessage, renderPending } from "../message/message.js";

const WINDOW = 240;
const STEP = 60;
// Distance to the end of the window at which it moves.
const MARGIN_PX = 900;
const AT_END_PX = 48;

export class Timeline {
  #page;
  #channel;
  #history;
  #nodes = new Map();
  #top = null;
  #bottom = null;
  #pinned = true;
  #frame = 0;
  #unreadAfter;
  #editing = null;
  #actions;
  #list = h("div", { class: "messages" });
  #toEnd = h(
    "button",
    { type: "button", class: "to-end", onclick: () => this.goToEnd() },
    icon("down"),
    "Newest messages",
  );

  constructor(page, channel) {
    this.#page = page;
    this.#channel = channel;
    this.#history = page.store.history(channel.id);
    this.#unreadAfter = page.store.reads.lastRead(channel.id);
    this.scroller = h(
      "div",
      { class: "scroller", role: "log", tabindex: "0", "aria-label": `Messages in ${page.store.channelName(channel)}` },
      this.#list,
    );
    this.element = h("div", { class: "timeline" }, this.scroller, this.#toEnd);
    this.#toEnd.hidden = true;
    this.#actions = new MessageActions(page, this);
    this.scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.scroller.addEventListener("keydown", (event) => this.#key(event));
    // Images and previews change the height after they are rendered.
    this.resizes = new ResizeObserver(() => this.#pinned && this.#stickToEnd());
    this.resizes.observe(this.#list);
    this.resizes.observe(this.scroller);
    this.ends = [
      page.store.on(`history:${channel.id}`, () => this.#refresh()),
      page.store.on("guild", () => this.#redraw()),
    ];
    this.#refresh();
  }

  get channel() {
    return this.#channel;
  }

  get history() {
    return this.#history;
  }

  close() {
    this.resizes.disconnect();
    for (const end of this.ends) end();
    cancelAnimationFrame(this.#frame);
  }

  // ---- moving about

  async goToEnd() {
    if (!this.#history.atEnd) {
      this.#top = null;
      this.#history.clear();
      await this.#page.messages.open(this.#channel.id);
    }
    this.#bottom = null;
    this.#pinned = true;
    this.#draw();
    this.#stickToEnd();
  }

  /** Scrolls to a message anywhere in the history and highlights it. */
  async show(messageId) {
    await this.#page.messages.loadAround(this.#channel.id, messageId);
    const { messages } = this.#history;
    const at = this.#history.indexOf(messageId);
    this.#pinned = false;
    this.#top = messages[Math.max(0, at - STEP)].id;
    this.#bottom = messages[Math.min(messages.length - 1, at + STEP)].id;
    this.#draw();
    const node = this.#nodes.get(messageId)?.node;
    node?.scrollIntoView({ block: "center" });
    node?.focus({ preventScroll: true });
    node?.classList.add("found");
    setTimeout(() => node?.classList.remove("found"), 2000);
  }

  edit(messageId) {
    this.#editing = messageId;
    this.#redraw(messageId);
    this.#nodes.get(messageId)?.node.querySelector("textarea")?.focus();
  }

  editLastOwn() {
    const mine = this.#history.messages.findLast(
      (message) => message.author.id === this.#page.store.me.id && !message.webhook_id,
    );
    if (mine) this.edit(mine.id);
    return Boolean(mine);
  }

  #endEdit(messageId) {
    this.#editing = null;
    this.#redraw(messageId);
    this.#page.focusComposer(this.#channel.id);
  }

  /** Marks everything as read and removes the "new" line. */
  markRead() {
    this.#unreadAfter = null;
    this.#read();
    this.#refresh();
  }

  #read() {
    const last = this.#history.last?.id ?? this.#channel.last_message_id;
    if (last && this.#page.store.reads.mark(this.#channel.id, last)) this.#page.store.emit("channels");
  }

  #scrolled() {
    if (!this.#history.loaded) return;
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const below = scrollHeight - scrollTop - clientHeight;
    this.#pinned = this.#reachesEnd() && below < AT_END_PX;
    this.#toEnd.hidden = this.#pinned || below < clientHeight;
    if (scrollTop < MARGIN_PX) this.#extendUp();
    else if (below < MARGIN_PX) this.#extendDown();
    if (this.#pinned) this.#readIfSeen();
  }

  #readIfSeen() {
    if (document.hasFocus()) this.#read();
  }

  #extendUp() {
    const { messages } = this.#history;
    const start = this.#start();
    if (start > 0) {
      const next = Math.max(0, start - STEP);
      this.#top = messages[next].id;
      if (this.#end() - next > WINDOW) this.#bottom = messages[next + WINDOW - 1].id;
      this.#draw();
      return;
    }
    if (!this.#history.loaded || this.#history.atStart) return;
    this.#page.attempt(this.#page.messages.loadOlder(this.#channel.id));
  }

  #extendDown() {
    const { messages } = this.#history;
    const end = this.#end();
    if (end < messages.length) {
      const next = Math.min(messages.length, end + STEP);
      this.#bottom = next === messages.length ? null : messages[next - 1].id;
      if (next - this.#start() > WINDOW) this.#top = messages[next - WINDOW].id;
      this.#draw();
      return;
    }
    if (this.#history.loaded && !this.#history.atEnd)
      this.#page.attempt(this.#page.messages.loadNewer(this.#channel.id));
  }

  #start() {
    return this.#top === null ? Math.max(0, this.#end() - STEP) : this.#history.indexOf(this.#top);
  }

  #end() {
    const { messages } = this.#history;
    return this.#bottom === null ? messages.length : Math.min(messages.length, this.#history.indexOf(this.#bottom) + 1);
  }

  #reachesEnd() {
    return this.#history.atEnd && this.#end() === this.#history.messages.length;
  }

  // ---- drawing

  /** Renders at most once per frame. */
  #refresh() {
    if (!this.#history.loaded) this.#page.attempt(this.#page.messages.open(this.#channel.id));
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
      if (this.#pinned && this.#history.loaded) this.#readIfSeen();
      this.#scrolled();
    });
  }

  #redraw(messageId = null) {
    for (const [key, entry] of this.#nodes) if (messageId === null || key === messageId) entry.signature = null;
    this.#draw();
  }

  #draw() {
    const { messages } = this.#history;
    if (this.#pinned) this.#bottom = null;
    let end = this.#end();
    let start = Math.min(this.#start(), end);
    if (this.#pinned) start = Math.max(start, end - WINDOW);
    else if (end - start > WINDOW) {
      end = start + WINDOW;
      this.#bottom = messages[end - 1].id;
    }
    this.#top = messages[start]?.id ?? null;
    this.#keepPlace(() => this.#reconcile(this.#items(start, end)));
  }

  #items(start, end) {
    const { messages, pending, loaded, atStart, atEnd } = this.#history;
    if (!loaded)
      return [{ key: "loading", signature: "", build: () => h("p", { class: "loading" }, "Loading messages…") }];
    const items = [];
    if (start === 0 && atStart)
      items.push({
        key: "intro",
        signature: String(messages.length === 0),
        build: () => renderIntro(this.#channel, this.#page, messages.length === 0),
      });
    let marked = false;
    for (let at = start; at < end; at += 1) {
      const message = messages[at];
      const previous = messages[at - 1];
      const newDay = !previous || !sameDay(timeOf(previous.id), timeOf(message.id));
      if (newDay) items.push(daySeparator(message));
      const isNew = !marked && this.#isNew(message) && (at === start || !this.#isNew(previous));
      if (isNew) {
        marked = true;
        items.push({
          key: "new",
          signature: "",
          build: () => h("div", { class: "separator new", role: "separator" }, h("span", {}, "New")),
        });
      }
      items.push(this.#messageItem(message, !newDay && !isNew && continues(previous, message)));
    }
    if (atEnd && end === messages.length) for (const sent of pending) items.push(this.#pendingItem(sent));
    return items;
  }

  #isNew(message) {
    return (
      this.#unreadAfter !== null &&
      compareIds(message.id, this.#unreadAfter) > 0 &&
      message.author.id !== this.#page.store.me.id
    );
  }

  #messageItem(message, grouped) {
    const editing = this.#editing === message.id;
    const build = () => {
      if (editing) return renderEditor(message, this.#page, () => this.#endEdit(message.id));
      return renderMessage(message, this.#page, { grouped });
    };
    return { key: message.id, signature: `${message.revision}${grouped ? "g" : ""}${editing ? "e" : ""}`, build };
  }

  #pendingItem(sent) {
    const progress = sent.progress === null ? "" : Math.round(sent.progress * 20);
    return {
      key: `pending ${sent.nonce}`,
      signature: `${sent.error}${progress}`,
      build: () => renderPending(sent, this.#channel.id, this.#page),
    };
  }

  /** Replaces only changed nodes, so that the others keep focus, selection and open previews. */
  #reconcile(items) {
    const wanted = new Set(items.map((item) => item.key));
    for (const [key, { node }] of this.#nodes) {
      if (wanted.has(key)) continue;
      node.remove();
      this.#nodes.delete(key);
    }
    let place = this.#list.firstChild;
    for (const { key, signature, build } of items) {
      const known = this.#nodes.get(key);
      if (known && known.signature === signature) {
        if (known.node === place) place = place.nextSibling;
        else this.#list.insertBefore(known.node, place);
        continue;
      }
      const node = build();
      if (known) {
        const focused = known.node.contains(document.activeElement);
        if (known.node === place) place = place.nextSibling;
        known.node.replaceWith(node);
        if (focused) node.focus({ preventScroll: true });
      } else this.#list.insertBefore(node, place);
      this.#nodes.set(key, { node, signature });
    }
  }

  /** Changes the document without moving the visible messages. */
  #keepPlace(change) {
    if (this.#pinned) {
      change();
      this.#stickToEnd();
      return;
    }
    const from = this.scroller.getBoundingClientRect().top;
    const visible = [...this.#list.children].find(
      (node) => node.dataset.id && node.getBoundingClientRect().bottom > from,
    );
    const id = visible?.dataset.id;
    const before = visible?.getBoundingClientRect().top;
    change();
    const now = id && this.#nodes.get(id)?.node;
    if (now) this.scroller.scrollTop += now.getBoundingClientRect().top - before;
  }

  #stickToEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  // ---- keyboard

  #key(event) {
    if (event.target.matches("textarea, input, select, button, a")) return;
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step && !event.altKey) {
      event.preventDefault();
      this.#focusNeighbour(step);
    } else if (event.key === "End") {
      event.preventDefault();
      this.goToEnd();
    } else this.#actions.key(event);
  }

  #focusNeighbour(step) {
    const all = [...this.#list.querySelectorAll(":scope > article")];
    const at = all.indexOf(document.activeElement);
    const next = at < 0 ? all.at(step < 0 ? -1 : 0) : all[at + step];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  }
}

function daySeparator(message) {
  const date = timeOf(message.id);
  const day = formatDay(date);
  return {
    key: `day ${date.toDateString()}`,
    signature: day,
    build: () => h("div", { class: "separator", role: "separator" }, h("span", {}, day)),
  };
}
