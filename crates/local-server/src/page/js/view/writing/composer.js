// The composer: text, files, replies, completion of names, and slash commands.

import { sentence } from "../../text/sentence.js";
import { formatSize } from "../../text/time.js";
import { MAX_FILE, MAX_REQUEST } from "../../state/messages.js";
import { avatar } from "../elements/avatar.js";
import { CommandForm } from "./command_form.js";
import { Completion } from "../elements/completion.js";
import { h, iconButton } from "../elements/dom.js";
import { grow } from "../elements/growing.js";
import { icon } from "../elements/icons.js";

// Drafts per channel, until the page is closed.
const drafts = new Map();
// The remaining characters are shown only near the limit.
const COUNT_FROM = 200;
const MOST_FILES = 10;
const MOST_SUGGESTIONS = 8;

export class Composer {
  #page;
  #channel;
  #timeline;
  #files = [];
  #reply = null;
  #form = null;
  #text;
  #fit;
  #completion;
  #picker = h("input", { type: "file", multiple: true, hidden: true, onchange: () => this.#takePicked() });
  #replyBar = h("div", { class: "replying" });
  #tray = h("ul", { class: "tray", "aria-label": "Files to send" });
  #problem = h("p", { class: "problem", role: "alert" });
  #count = h("span", { class: "left", "aria-live": "polite" });
  #box;

  constructor(page, channel, timeline) {
    this.#page = page;
    this.#channel = channel;
    this.#timeline = timeline;
    const name = page.store.channelName(channel);
    const place = channel.type === 0 ? `#${name}` : name;
    // A thread without a name has its first line as a name, which is too long here.
    const invitation = page.store.isThread(channel) && !page.traits.namedThreads ? "Reply…" : `Message ${place}`;
    this.#text = h("textarea", {
      rows: 1,
      placeholder: invitation,
      "aria-label": invitation,
      dir: "auto",
      value: drafts.get(channel.id) ?? "",
      enterkeyhint: "send",
    });
    this.#completion = new Completion(this.#text);
    const attach = iconButton(icon("attach"), "Attach files", () => this.#picker.click());
    const send = iconButton(icon("send"), "Send", () => this.#send(), { class: "icon send" });
    this.#box = h("div", { class: "box" }, attach, this.#picker, this.#text, this.#count, send);
    this.element = h(
      "div",
      { class: "composer" },
      this.#completion.element,
      this.#replyBar,
      this.#tray,
      this.#problem,
      this.#box,
    );
    this.#fit = grow(this.#text);
    this.#text.addEventListener("input", () => this.#typed());
    this.#text.addEventListener("keydown", (event) => this.#key(event));
    this.#text.addEventListener("paste", (event) => this.#paste(event));
    this.#text.addEventListener("blur", () => this.#completion.close());
    this.#showReply();
    this.#showCount();
  }

  focus() {
    if (this.#form) this.#form.focus();
    else this.#text.focus();
  }

  /** Fills the field, so that the person can edit and send it. */
  write(text) {
    this.#text.value = text;
    this.#text.focus();
    this.#typed();
  }

  reply(message) {
    this.#reply = message;
    this.#showReply();
    this.focus();
  }

  // ---- text

  #typed() {
    this.#fit();
    drafts.set(this.#channel.id, this.#text.value);
    this.#problem.textContent = "";
    this.#showCount();
    this.#suggest();
    if (this.#text.value && !this.#text.value.startsWith("/")) this.#page.messages.noteTyping(this.#channel.id);
  }

  #key(event) {
    if (this.#completion.key(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.#send();
    } else if (event.key === "ArrowUp" && !event.altKey && !this.#text.value && this.#timeline.editLastOwn()) {
      event.preventDefault();
    } else if (event.key === "Escape" && this.#reply) {
      event.stopPropagation();
      this.#reply = null;
      this.#showReply();
    }
  }

  #send() {
    const content = this.#text.value.trim();
    if (!content && !this.#files.length) return undefined;
    const command = !this.#files.length && this.#page.service.runWritten(this.#channel.id, content);
    if (command) {
      this.#page.attempt(command);
      this.#text.value = "";
      return this.#typed();
    }
    // Discord counts code points, not UTF-16 units.
    const over = [...content].length - this.#page.traits.maxLength;
    if (over > 0) {
      this.#problem.textContent = `${over} ${over === 1 ? "character" : "characters"} too long. Send it as a file, or in parts.`;
      return undefined;
    }
    this.#page.messages.send(this.#channel.id, { content: this.#withMentions(content), files: this.#files, reply: this.#reply });
    this.#files = [];
    this.#reply = null;
    this.#text.value = "";
    this.#typed();
    this.#showFiles();
    this.#showReply();
    return this.#timeline.goToEnd();
  }

  /** Names that were typed in full after an @ are mentions, as in the clients of the platforms. */
  #withMentions(content) {
    const people = this.#page.store.listPeople().filter((person) => person.name && !person.webhook);
    people.sort((one, other) => other.name.length - one.name.length);
    return people.reduce((text, { id, name }) => {
      const written = name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
      return text.replace(new RegExp(`(^|\\s)@${written}(?![\\p{L}\\p{N}_-])`, "giu"), `$1<@${id}>`);
    }, content);
  }

  #showCount() {
    const left = this.#page.traits.maxLength - [...this.#text.value].length;
    this.#count.textContent = left < COUNT_FROM ? String(left) : "";
    this.#count.classList.toggle("over", left < 0);
  }

  #showReply() {
    this.#replyBar.hidden = !this.#reply;
    if (!this.#reply) return;
    const author = this.#page.store.author(this.#reply);
    const stop = () => {
      this.#reply = null;
      this.#showReply();
      this.focus();
    };
    this.#replyBar.replaceChildren(
      icon("reply"),
      h("span", {}, "Replying to ", h("strong", {}, author.name)),
      iconButton(icon("close"), "Cancel reply", stop),
    );
  }

  // ---- files

  #takePicked() {
    this.addFiles([...this.#picker.files]);
    this.#picker.value = "";
  }

  #paste(event) {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    this.addFiles(files);
  }

  /** Adds files within the server's limits and shows why the others are rejected. */
  addFiles(files) {
    const refused = [];
    for (const file of files) {
      const together = this.#files.reduce((sum, other) => sum + other.size, file.size);
      if (file.size > MAX_FILE) refused.push(`${file.name} is ${formatSize(file.size)}; a file may have 10 MB`);
      else if (together > MAX_REQUEST)
        refused.push(`${file.name} was not added: the files of one message can have at most 25 MB`);
      else if (this.#files.length >= MOST_FILES)
        refused.push(`${file.name} was not added: a message can have at most ${MOST_FILES} files`);
      else this.#files.push(file);
    }
    this.#showFiles();
    this.#problem.textContent = refused.join(". ");
    this.focus();
  }

  #showFiles() {
    const remove = (file) => () => {
      this.#files = this.#files.filter((other) => other !== file);
      this.#showFiles();
      this.focus();
    };
    this.#tray.hidden = !this.#files.length;
    this.#tray.replaceChildren(
      ...this.#files.map((file) =>
        h(
          "li",
          {},
          icon("file"),
          h("span", { class: "filename" }, file.name),
          h("span", { class: "size" }, formatSize(file.size)),
          iconButton(icon("close"), `Remove ${file.name}`, remove(file)),
        ),
      ),
    );
  }

  // ---- completion

  async #suggest() {
    const text = this.#text.value;
    const before = text.slice(0, this.#text.selectionStart);
    const command = /^\/(\S*(?: \S*){0,2})$/.exec(text);
    if (command) return this.#suggestCommands(command[1]);
    const name = /(?:^|\s)([@#])([\p{L}\p{N}_.-]{0,32})$/u.exec(before);
    if (!name) return this.#completion.close();
    const entries = name[1] === "@" ? this.#matchPeople(name[2]) : this.#matchChannels(name[2]);
    return this.#completion.open(entries.slice(0, MOST_SUGGESTIONS), (entry) =>
      this.#insert(entry.value, name[1].length + name[2].length),
    );
  }

  #matchPeople(part) {
    const people = this.#page.store.listPeople().filter((person) => !person.me && matches(person.name, part));
    return people.map((person) => ({
      label: person.name,
      detail: this.#page.store.presence(person.id).status,
      picture: avatar(person, "avatar tiny"),
      value: `<@${person.id}> `,
    }));
  }

  #matchChannels(part) {
    return this.#page.store
      .listChannels()
      .filter((channel) => matches(channel.name, part))
      .map((channel) => ({ label: `#${channel.name}`, value: `<#${channel.id}> ` }));
  }

  #insert(value, length) {
    const at = this.#text.selectionStart;
    this.#text.setRangeText(value, at - length, at, "end");
    this.#typed();
  }

  async #suggestCommands(typed) {
    let commands;
    try {
      commands = await this.#page.interactions.listCommands();
    } catch (error) {
      this.#problem.textContent = `Could not load the commands. ${sentence(error.message)}`;
      return;
    }
    if (this.#text.value.slice(1) !== typed) return;
    const exact = typed.endsWith(" ") && commands.find((command) => command.label === typed.trim());
    if (exact && !exact.written) {
      this.#openForm(exact);
      return;
    }
    const found = commands.filter((command) => command.label.startsWith(typed) && !(exact && command.written));
    const entries = found
      .slice(0, 20)
      .map((command) => ({
        label: `/${command.label}`,
        detail: command.description,
        picture: avatar(this.#page.store.person(command.application_id), "avatar tiny"),
        command,
      }));
    this.#completion.open(entries, ({ command }) => (command.written ? this.write(`/${command.label} `) : this.#openForm(command)));
  }

  #openForm(command) {
    this.#completion.close();
    this.#form = new CommandForm(this.#page, this.#channel.id, command, () => this.#closeForm());
    this.#text.value = "";
    drafts.delete(this.#channel.id);
    this.#box.hidden = true;
    this.element.append(this.#form.element);
    this.#form.focus();
  }

  #closeForm() {
    this.#form?.element.remove();
    this.#form = null;
    this.#box.hidden = false;
    this.#text.focus();
  }
}

function matches(name, part) {
  return (
    name
      .toLowerCase()
      .split(/[\s_-]/)
      .some((word) => word.startsWith(part.toLowerCase())) || name.toLowerCase().startsWith(part.toLowerCase())
  );
}
