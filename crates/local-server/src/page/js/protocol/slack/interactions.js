// Buttons, menus, commands, modals and home tabs of the local Slack.

import { toFields } from "./views.js";

export class Interactions {
  #api;
  #slack;
  #modals = new Map();
  #homes = new Map();
  /** Called with a modal of an app. Returns a function that closes it. */
  onModal = () => () => {};

  constructor(api, slack) {
    this.#api = api;
    this.#slack = slack;
  }

  async listCommands() {
    return this.#slack.commands.map(({ command, user }) => ({
      label: command.slice(1),
      description: "",
      application_id: user,
      // The person types the arguments behind it, and the page sends both like a message.
      written: true,
    }));
  }

  forgetCommands() {}

  /** What the menu of a message offers, as a name and an id. */
  listOffers() {
    return this.#slack.shortcuts
      .filter(({ type }) => type === "message")
      .map(({ name, callback_id }) => ({ label: name, value: callback_id }));
  }

  takeOffer(message, callback_id) {
    return this.#api.post(`${this.#slack.messagePath(message)}/shortcuts`, { callback_id });
  }

  /** Presses a button, or chooses in a menu, of a message or a view. */
  press(holder, component, values = []) {
    const path = holder.view ? `/views/${holder.view}` : this.#slack.messagePath(holder);
    return this.#api.post(`${path}/actions`, { action: component.custom_id, values });
  }

  /** Submits a modal. Rejects with what the app complains of. */
  async submit(modal, components) {
    const inputs = components.map(({ component }) => ({
      action: component.custom_id,
      values: component.values ?? (component.value ? [component.value] : []),
    }));
    const { errors } = await this.#api.post(`/views/${modal.view}`, { inputs });
    if (!errors) return;
    const labels = new Map(modal.components.map((field) => [field.block, field.label]));
    throw new Error(Object.entries(errors).map(([block, text]) => `${labels.get(block) ?? block}: ${text}`).join(". "));
  }

  close(modal) {
    this.#modals.delete(modal.view);
    return this.#api.delete(`/views/${modal.view}`);
  }

  /** Opens the home tab of an app. `show` is called with it now and after each change. Returns a function that ends that. */
  async openHome(app, show) {
    this.#homes.set(app, show);
    const { view } = await this.#api.post(`/homes/${app}`);
    if (view) show(view);
    return () => this.#homes.delete(app);
  }

  // ---- what the server reports

  ready(views) {
    for (const view of views) if (!this.#modals.has(view.id)) this.#open(view);
  }

  receive(frame) {
    if (frame.type === "view_gone") return this.#close(frame.id);
    if (frame.type !== "view") return undefined;
    const { view } = frame;
    if (view.type === "modal") return this.#open(view);
    const app = [...this.#slack.users.values()].find((user) => user.bot_id === view.bot_id)?.app;
    return this.#homes.get(app)?.(view);
  }

  #open(view) {
    const known = this.#modals.get(view.id);
    // The same version needs nothing. The dialog itself shows a person's input and its errors.
    if (known?.hash === view.hash) return;
    known?.close();
    this.#modals.set(view.id, { hash: view.hash, close: this.onModal(toFields(view)) });
  }

  #close(id) {
    const known = this.#modals.get(id);
    this.#modals.delete(id);
    known?.close();
  }
}
