// A modal of an application: text fields, select menus and a submit button.

import { sentence } from "../../text/sentence.js";
import { h } from "../elements/dom.js";
import { grow } from "../elements/growing.js";
import { openDialog } from "./dialogs.js";

const TYPE = { ROW: 1, SELECT: 3, TEXT: 4, LABEL: 18 };
const PARAGRAPH = 2;
const LONGEST_TEXT = 4000;

/** Opens the modal. `submit(components)` rejects with an error message. */
export function showModal(modal, submit) {
  return openDialog(modal.title, "modal", (close) => {
    const fields = modal.components.flatMap(listFields);
    const problem = h("p", { class: "problem", role: "alert" });
    const send = h("button", { class: "control primary" }, "Submit");
    const onsubmit = async (event) => {
      event.preventDefault();
      send.disabled = true;
      problem.textContent = "";
      try {
        await submit(fields.map((field) => field.answer()));
        close(true);
      } catch (error) {
        problem.textContent = sentence(error.message);
        send.disabled = false;
      }
    };
    const cancel = h("button", { type: "button", class: "control secondary", onclick: () => close() }, "Cancel");
    return h(
      "form",
      { onsubmit },
      h("h2", {}, modal.title),
      fields.map((field) => field.element),
      problem,
      h("div", { class: "dialog-actions" }, cancel, send),
    );
  });
}

/** Fields are in a row with their own label, or in a label component. */
function listFields(container) {
  if (container.type === TYPE.LABEL) return [buildField(container.component, container)];
  return (container.components ?? []).map((component) => buildField(component, container));
}

function buildField(component, container) {
  const input = component.type === TYPE.TEXT ? textInput(component) : selectInput(component);
  const answer = () => {
    const inner = { type: component.type, custom_id: component.custom_id };
    if (component.id !== undefined) inner.id = component.id;
    if (component.type === TYPE.TEXT) inner.value = input.value;
    else inner.values = [...input.selectedOptions].map((option) => option.value);
    const outer = container.type === TYPE.LABEL ? { component: inner } : { components: [inner] };
    return { type: container.type, ...(container.id === undefined ? {} : { id: container.id }), ...outer };
  };
  const name = container.label ?? component.label ?? component.placeholder ?? "Answer";
  const note = component.required === false ? " (optional)" : "";
  return { element: h("label", { class: "labelled" }, h("span", {}, name, note), input), answer };
}

function textInput(component) {
  const shared = {
    required: component.required !== false,
    minlength: component.min_length,
    maxlength: component.max_length ?? LONGEST_TEXT,
    placeholder: component.placeholder,
    value: component.value ?? "",
    dir: "auto",
  };
  if (component.style !== PARAGRAPH) return h("input", { type: "text", ...shared });
  const area = h("textarea", { rows: 3, ...shared });
  grow(area);
  return area;
}

function selectInput(component) {
  const options = (component.options ?? []).map((option) =>
    h("option", { value: option.value, selected: option.default }, option.label),
  );
  return h("select", { required: component.required !== false, multiple: (component.max_values ?? 1) > 1 }, options);
}
