// The form for a slash command: one field per option, checked before it is sent.

import { sentence } from "../../text/sentence.js";
import { avatar } from "../elements/avatar.js";
import { Completion } from "../elements/completion.js";
import { h, iconButton } from "../elements/dom.js";
import { icon } from "../elements/icons.js";

const OPTION = {
  STRING: 3,
  INTEGER: 4,
  BOOLEAN: 5,
  USER: 6,
  CHANNEL: 7,
  ROLE: 8,
  MENTIONABLE: 9,
  NUMBER: 10,
  FILE: 11,
};
const LONGEST_TEXT = 6000;
const COMPLETE_AFTER_MS = 200;

export class CommandForm {
  #page;
  #channelId;
  #command;
  #fields;
  #done;
  #problem = h("p", { class: "problem", role: "alert" });

  /** `done(sent)` is called when the command was sent or cancelled. */
  constructor(page, channelId, command, done) {
    this.#page = page;
    this.#channelId = channelId;
    this.#command = command;
    this.#done = done;
    this.#fields = command.options.map((option) => this.#buildField(option));
    const application = page.store.person(command.application_id);
    this.element = h(
      "form",
      {
        class: "command-form",
        novalidate: true,
        "aria-label": `Command ${command.label}`,
        onsubmit: (event) => this.#submit(event),
        onkeydown: (event) => event.key === "Escape" && done(false),
      },
      h(
        "div",
        { class: "command-title" },
        avatar(application, "avatar tiny"),
        h("strong", {}, `/${command.label}`),
        h("span", { class: "detail" }, command.description),
        iconButton(icon("close"), "Cancel command", () => done(false)),
      ),
      h(
        "div",
        { class: "fields" },
        this.#fields.map((field) => field.element),
      ),
      this.#problem,
      h("div", { class: "dialog-actions" }, h("button", { class: "control primary" }, "Run")),
    );
  }

  focus() {
    (this.#fields[0]?.input ?? this.element.querySelector(".control.primary")).focus();
  }

  #buildField(option) {
    const input = this.#buildInput(option);
    const label = h("span", {}, option.name, option.required ? "" : " (optional)");
    const field = {
      option,
      input,
      chosen: null,
      element: h("label", { class: "labelled", title: option.description }, label, input),
    };
    if (option.autocomplete) this.#completeLive(field);
    return field;
  }

  #buildInput(option) {
    const shared = {
      name: option.name,
      "aria-required": String(Boolean(option.required)),
      placeholder: option.description,
    };
    const { store } = this.#page;
    const select = (entries) =>
      h(
        "select",
        shared,
        h("option", { value: "" }, option.required ? "Choose…" : "—"),
        entries.map(({ value, name }) => h("option", { value: String(value) }, name)),
      );
    if (option.choices?.length) return select(option.choices);
    switch (option.type) {
      case OPTION.BOOLEAN:
        return select([
          { value: "true", name: "yes" },
          { value: "false", name: "no" },
        ]);
      case OPTION.USER:
        return select(store.listPeople().map((person) => ({ value: person.id, name: person.name })));
      case OPTION.ROLE:
        return select([...store.roles.values()].map((role) => ({ value: role.id, name: role.name })));
      case OPTION.MENTIONABLE:
        return select([
          ...store.listPeople().map((person) => ({ value: person.id, name: person.name })),
          ...[...store.roles.values()].map((role) => ({ value: role.id, name: role.name })),
        ]);
      case OPTION.CHANNEL:
        return select(store.listChannels().map((channel) => ({ value: channel.id, name: `#${channel.name}` })));
      case OPTION.INTEGER:
        return h("input", { type: "number", step: 1, min: option.min_value, max: option.max_value, ...shared });
      case OPTION.NUMBER:
        return h("input", { type: "number", step: "any", min: option.min_value, max: option.max_value, ...shared });
      case OPTION.FILE:
        return h("input", { type: "file", ...shared });
      default:
        return h("input", {
          type: "text",
          autocomplete: "off",
          dir: "auto",
          maxlength: option.max_length ?? LONGEST_TEXT,
          ...shared,
        });
    }
  }

  #completeLive(field) {
    const completion = new Completion(field.input);
    field.element.append(completion.element);
    let timer = 0;
    const ask = async () => {
      const asked = field.input.value;
      const options = this.#fields
        .filter((other) => other === field || other.input.value)
        .map((other) => ({ ...this.#answer(other), ...(other === field ? { value: asked, focused: true } : {}) }));
      const choices = await this.#page.interactions.complete(this.#channelId, this.#command, options).catch(() => []);
      // Ignores suggestions for an earlier value of the field.
      if (field.input.value !== asked || document.activeElement !== field.input) return;
      completion.open(
        choices.map((choice) => ({ label: choice.name, value: choice.value })),
        (choice) => {
          field.chosen = choice;
          field.input.value = choice.label;
        },
      );
    };
    const soon = () => {
      field.chosen = null;
      clearTimeout(timer);
      timer = setTimeout(ask, COMPLETE_AFTER_MS);
    };
    field.input.addEventListener("input", soon);
    field.input.addEventListener("focus", soon);
    field.input.addEventListener("blur", () => completion.close());
    field.input.addEventListener("keydown", (event) => completion.key(event));
  }

  #answer({ option, input, chosen }) {
    const { type, name } = option;
    if (type === OPTION.FILE) return { type, name, value: input.files[0] };
    if (type === OPTION.INTEGER || type === OPTION.NUMBER)
      return { type, name, value: chosen?.value ?? Number(input.value) };
    if (type === OPTION.BOOLEAN) return { type, name, value: input.value === "true" };
    return { type, name, value: chosen?.value ?? input.value };
  }

  /** The error message for a field, or null. */
  #findProblem({ option, input }) {
    const value = option.type === OPTION.FILE ? (input.files.length ? "file" : "") : input.value.trim();
    if (!value) return option.required || input.validity?.badInput ? `“${option.name}” is needed` : null;
    if (option.min_length && value.length < option.min_length)
      return `“${option.name}” must have at least ${option.min_length} ${option.min_length === 1 ? "character" : "characters"}`;
    if (!input.checkValidity()) return `“${option.name}”: ${input.validationMessage}`;
    return null;
  }

  async #submit(event) {
    event.preventDefault();
    const wrong = this.#fields
      .map((field) => ({ field, words: this.#findProblem(field) }))
      .filter(({ words }) => words);
    for (const field of this.#fields) field.input.removeAttribute("aria-invalid");
    for (const { field } of wrong) field.input.setAttribute("aria-invalid", "true");
    this.#problem.textContent = wrong.map(({ words }) => words).join(". ");
    if (wrong.length) return wrong[0].field.input.focus();
    const given = this.#fields.filter(({ option, input }) =>
      option.type === OPTION.FILE ? input.files.length : input.value.trim(),
    );
    const button = this.element.querySelector(".control.primary");
    button.disabled = true;
    button.textContent = "Sending…";
    try {
      await this.#page.interactions.invoke(
        this.#channelId,
        this.#command,
        given.map((field) => this.#answer(field)),
      );
      return this.#done(true);
    } catch (error) {
      this.#problem.textContent = sentence(error.message);
      button.disabled = false;
      button.textContent = "Run again";
      return button.focus();
    }
  }
}
