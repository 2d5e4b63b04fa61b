// A modal of an application: text fields, select menus and a submit button.

import { sentence } from "../../text/sentence.js";
import { h } from "../elements/dom.js";
import { listOptions } from "../message/controls.js";
import { grow } from "../elements/growing.js";
import { renderLayout } from "../message/layout.js";
import { openDialog } from "./dialogs.js";

const TYPE = { ROW: 1, SELECT: 3, TEXT: 4, LABEL: 18 };
const PARAGRAPH = 2;
const LONGEST_TEXT = 4000;

/** Opens the modal. Returns a function that closes it as if it had been submitted. */
export function showModal(modal, page) {
  let finish = () => {};
  const answered = openDialog(modal.title, "modal", (close) => {
    finish = () => close(true);
    return build(modal, page, close);
  });
  answered.then((done) => done || page.interactions.close?.(modal)?.catch(() => {}));
  return finish;
}

function build(modal, page, close) {
  const fields = modal.components.flatMap((container) => listFields(container, modal, page));
  const problem = h("p", { class: "problem", role: "alert" });
  const send = h("button", { class: "control primary" }, modal.action ?? "Submit");
  const onsubmit = async (event) => {
    event.preventDefault();
    send.disabled = true;
    problem.textContent = "";
    try {
      await page.interactions.submit(modal, fields.filter((field) => field.answer).map((field) => field.answer()));
      close(true);
    } catch (error) {
      problem.textContent = sentence(error.message);
      send.disabled = false;
    }
  };
  const cancel = h("button", { type: "button", class: "control secondary", onclick: () => close() }, modal.cancel ?? "Cancel");
  return h(
    "form",
    { onsubmit },
    h("h2", {}, modal.title),
    fields.map((field) => field.element),
    problem,
    h("div", { class: "dialog-actions" }, cancel, modal.action === null ? null : send),
  );
}

/** Fields are in a row with their own label, or in a label component. */
function listFields(container, modal, page) {
  if (container.layout) {
    const press = (component, values) => page.interactions.press({ view: modal.view }, component, values);
    return [{ element: renderLayout(container.layout, page, press) }];
  }
  if (container.type === TYPE.LABEL) return [buildField(container.component, container, page.store)];
  return (container.components ?? []).map((component) => buildField(component, container, page.store));
}

function buildField(component, container, store) {
  const input = component.type === TYPE.TEXT ? textInput(component) : selectInput(component, store);
  const answer = () => {
    const inner = { type: component.type, custom_id: component.custom_id };
    if (component.id !== undefined) inner.id = component.id;
    if (component.type === TYPE.TEXT) inner.value = input.value;
    else inner.values = [...input.selectedOptions].map((option) => option.value).filter(Boolean);
    const outer = container.type === TYPE.LABEL ? { component: inner } : { components: [inner] };
    return { type: container.type, ...(container.id === undefined ? {} : { id: container.id }), ...outer };
  };
  const name = container.label ?? component.label ?? component.placeholder ?? "Answer";
  const note = component.required === false ? " (optional)" : "";
  const hint = container.hint ? h("span", { class: "detail" }, container.hint) : null;
  return { element: h("label", { class: "labelled" }, h("span", {}, name, note), input, hint), answer };
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
  if (component.style !== PARAGRAPH) return h("input", { type: component.kind ?? "text", ...shared });
  const area = h("textarea", { rows: 3, ...shared });
  grow(area);
  return area;
}

function selectInput(component, store) {
  const listed = listOptions(component, store);
  const options = listed.map((option) => h("option", { value: option.value, selected: option.default }, option.label));
  const required = component.required !== false;
  const multiple = (component.max_values ?? 1) > 1;
  // Otherwise a browser chooses the first by itself.
  const isOpen = !multiple && !(required && listed.some((option) => option.default));
  const none = isOpen ? h("option", { value: "" }, required ? "Choose…" : "—") : null;
  return h("select", { required, multiple }, none, options);
}
