// The home tab of an app: a page of blocks that the app keeps up to date.

import { h } from "../elements/dom.js";
import { renderLayout } from "../message/layout.js";
import { openDialog } from "./dialogs.js";

/** `person` is the app's account. */
export async function showHome(page, person) {
  const content = h("div", { class: "home" }, h("p", { class: "hint" }, "Nothing here yet."));
  const show = (view) => {
    const press = (component, values) => page.interactions.press({ view: view.id }, component, values);
    content.replaceChildren(renderLayout(view.blocks ?? [], page, press));
  };
  const end = await page.attempt(page.interactions.openHome(person.home, show));
  if (!end) return;
  await openDialog(`Home of ${person.name}`, "modal", (close) => [
    h("h2", {}, person.name),
    content,
    h(
      "div",
      { class: "dialog-actions" },
      h("button", { type: "button", class: "control primary", onclick: () => close() }, "Close"),
    ),
  ]);
  end();
}
