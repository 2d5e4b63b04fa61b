// Buttons and select menus of a message. `press(component, values)` runs the interaction and rejects with an error
// message. The control is disabled meanwhile.

import { sentence } from "../../text/sentence.js";
import { h } from "../elements/dom.js";

const TYPE = { ROW: 1, BUTTON: 2, SELECT: 3, USERS: 5, ROLES: 6, MENTIONABLES: 7, CHANNELS: 8 };
const STYLES = { 1: "primary", 2: "secondary", 3: "success", 4: "danger", 5: "link" };

/** What a control does: it cannot be used meanwhile, and `problem` shows what went wrong. */
export function runner(problem, press) {
  return async (control, component, values) => {
    control.disabled = true;
    control.setAttribute("aria-busy", "true");
    problem.textContent = "";
    try {
      await press(component, values);
    } catch (error) {
      problem.textContent = sentence(error.message);
    }
    control.removeAttribute("aria-busy");
    control.disabled = Boolean(component.disabled);
  };
}

export function renderControls(components, store, press) {
  const rows = (components ?? []).filter((row) => row.type === TYPE.ROW);
  if (!rows.length) return null;
  const problem = h("p", { class: "problem", role: "alert" });
  const run = runner(problem, press);
  const drawn = rows.map((row) =>
    h(
      "div",
      { class: "control-row" },
      row.components.map((component) => renderControl(component, store, run)),
    ),
  );
  return h("div", { class: "controls" }, drawn, problem);
}

/** One control. `run(control, component, values)` is called when it is used. */
export function renderControl(component, store, run) {
  if (component.type === TYPE.BUTTON) return renderButton(component, run);
  return renderSelect(component, store, run);
}

function renderButton(component, run) {
  const label = [component.emoji?.name, component.label].filter(Boolean).join(" ") || "Button";
  const style = STYLES[component.style] ?? "secondary";
  if (component.url)
    return h(
      "a",
      { class: `control ${style}`, href: component.url, target: "_blank", rel: "noopener noreferrer" },
      label,
    );
  const button = h("button", { type: "button", class: `control ${style}`, disabled: component.disabled }, label);
  button.addEventListener("click", () => run(button, component));
  return button;
}

function renderSelect(component, store, run) {
  const several = (component.max_values ?? 1) > 1;
  const label = component.placeholder || "Choose";
  const options = listOptions(component, store).map((option) =>
    h("option", { value: option.value, selected: option.default, title: option.description }, option.label),
  );
  if (!several)
    options.unshift(
      h("option", { value: "", selected: !component.options?.some((o) => o.default), disabled: true }, label),
    );
  const select = h(
    "select",
    {
      class: "control",
      "aria-label": label,
      multiple: several,
      size: several ? Math.min(options.length, 6) : null,
      disabled: component.disabled,
    },
    options,
  );
  const chosen = () => [...select.selectedOptions].map((option) => option.value);
  if (!several) {
    select.addEventListener("change", () => run(select, component, chosen()));
    return select;
  }
  const done = h("button", { type: "button", class: "control secondary" }, "Choose");
  done.addEventListener("click", () => run(done, component, chosen()));
  return h("span", { class: "several" }, select, done);
}

/** What a menu offers. */
export function listOptions(component, store) {
  const people = () => store.listPeople().map((person) => ({ value: person.id, label: person.name }));
  const roles = () => [...store.roles.values()].map((role) => ({ value: role.id, label: role.name }));
  switch (component.type) {
    case TYPE.USERS:
      return people();
    case TYPE.ROLES:
      return roles();
    case TYPE.MENTIONABLES:
      return [...people(), ...roles()];
    case TYPE.CHANNELS:
      return store.listChannels().map((channel) => ({ value: channel.id, label: `#${channel.name}` }));
    default:
      return component.options ?? [];
  }
}
