// Suggestions for a text field: arrow keys select, Enter or Tab accepts, Escape closes. The field keeps the focus and
// announces the selected entry.

import { h } from "./dom.js";

let lists = 0;

export class Completion {
  #field;
  #entries = [];
  #marked = 0;
  #take = () => {};
  #id = `suggestions-${(lists += 1)}`;

  constructor(field) {
    this.#field = field;
    this.element = h("ul", { class: "completion", role: "listbox", id: this.#id, "aria-label": "Suggestions" });
    this.element.hidden = true;
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-controls", this.#id);
  }

  get isOpen() {
    return !this.element.hidden;
  }

  /** `entries` are `{ label, detail, picture, value }`. `take` is called with the accepted one. */
  open(entries, take) {
    if (!entries.length) return this.close();
    this.#entries = entries;
    this.#take = take;
    this.#marked = 0;
    this.element.replaceChildren(...entries.map((entry, at) => this.#renderEntry(entry, at)));
    this.element.hidden = false;
    return this.#mark(0);
  }

  close() {
    this.element.hidden = true;
    this.#field.removeAttribute("aria-activedescendant");
  }

  #renderEntry(entry, at) {
    // Keeps the focus in the field until the click event.
    const props = {
      role: "option",
      id: `${this.#id}-${at}`,
      onpointerdown: (event) => event.preventDefault(),
      onclick: () => this.#choose(at),
    };
    return h(
      "li",
      props,
      entry.picture,
      h("span", { class: "label" }, entry.label),
      entry.detail ? h("span", { class: "detail" }, entry.detail) : null,
    );
  }

  #mark(at) {
    this.#marked = (at + this.#entries.length) % this.#entries.length;
    [...this.element.children].forEach((child, index) =>
      child.setAttribute("aria-selected", String(index === this.#marked)),
    );
    this.element.children[this.#marked].scrollIntoView({ block: "nearest" });
    this.#field.setAttribute("aria-activedescendant", `${this.#id}-${this.#marked}`);
  }

  #choose(at) {
    const entry = this.#entries[at];
    this.close();
    this.#take(entry);
  }

  /** Returns whether the list handled the key. */
  key(event) {
    if (!this.isOpen || event.isComposing) return false;
    if (event.key === "ArrowDown") this.#mark(this.#marked + 1);
    else if (event.key === "ArrowUp") this.#mark(this.#marked - 1);
    else if (event.key === "Enter" || event.key === "Tab") this.#choose(this.#marked);
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }
}
