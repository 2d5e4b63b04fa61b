// Editor for an own message, in the timeline.

import { h } from "../elements/dom.js";
import { avatar } from "../elements/avatar.js";
import { grow } from "../elements/growing.js";
import { sentence } from "../../text/sentence.js";

/** Calls `done` when the edit was saved or cancelled. */
export function renderEditor(message, page, done) {
  const problem = h("p", { class: "problem", role: "alert" });
  const text = h("textarea", {
    "aria-label": "Edit message",
    maxlength: page.traits.maxLength,
    rows: 1,
    dir: "auto",
    value: page.names.editable(message.content),
  });
  const save = async () => {
    const content = text.value.trim();
    if (!content) return (problem.textContent = "A message cannot be empty. Delete it instead.");
    if (content === page.names.editable(message.content)) return done();
    try {
      await page.messages.edit(message, content);
      return done();
    } catch (error) {
      return (problem.textContent = `Not saved. ${sentence(error.message)}`);
    }
  };
  text.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      done();
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      save();
    }
  });
  grow(text);
  const button = h("button", { type: "button", class: "quiet", onclick: save }, "Save");
  const cancel = h("button", { type: "button", class: "quiet", onclick: done }, "Cancel");
  const hint = h("p", { class: "hint" }, button, cancel, h("span", { class: "keys" }, "Enter saves, Esc cancels"));
  return h(
    "article",
    { class: "message editing", tabindex: "-1", data: { id: message.id } },
    h("span", { class: "gutter" }, avatar(page.store.author(message))),
    h("div", { class: "body" }, text, problem, hint),
  );
}
