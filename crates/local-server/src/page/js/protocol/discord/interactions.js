// Slash commands, buttons, select menus and modals, as user clients send them: a POST without a response body, then the
// result as a gateway event with the same nonce.

import { makeNonce } from "../../state/messages.js";

const COMMAND = { CHAT: 1, SUB: 1, GROUP: 2 };
const KIND = { COMMAND: 2, COMPONENT: 3, AUTOCOMPLETE: 4, MODAL: 5 };

// The server gives an application three seconds. After this time the result event was lost.
const OUTCOME_MS = 8000;
const NO_ANSWER = "The team did not answer in time. Try again in a moment.";

export class Interactions {
  #api;
  #store;
  #gateway;
  #waiting = new Map();
  #commands = null;
  /** Called with a modal of an application. */
  onModal = () => {};

  constructor(api, store, gateway) {
    this.#api = api;
    this.#store = store;
    this.#gateway = gateway;
    gateway.addEventListener("dispatch", ({ detail }) => this.#receive(detail.type, detail.data));
  }

  /** All commands of the server, each with its application. */
  async listCommands() {
    this.#commands ??= this.#fetchCommands().catch((error) => {
      this.#commands = null;
      throw error;
    });
    return this.#commands;
  }

  /** Clears the list, because commands may have changed. */
  /** Nothing is offered in the menu of a message. */
  listOffers() {
    return [];
  }

  forgetCommands() {
    this.#commands = null;
  }

  async #fetchCommands() {
    const index = await this.#api.get(`/guilds/${this.#store.guild.id}/application-command-index`);
    const commands = index.application_commands.filter((command) => (command.type ?? COMMAND.CHAT) === COMMAND.CHAT);
    return commands.flatMap((command) => flatten(command, [])).sort((a, b) => a.label.localeCompare(b.label));
  }

  /** `options` are `{ type, name, value }`. A `File` as value is uploaded with the command. */
  invoke(channelId, command, options) {
    const files = options.filter((option) => option.value instanceof File).map((option) => option.value);
    const sent = options.map((option) =>
      option.value instanceof File ? { ...option, value: files.indexOf(option.value) } : option,
    );
    return this.#send(KIND.COMMAND, channelId, command.application_id, { data: commandData(command, sent) }, files);
  }

  /** Choices for the option marked `focused`. */
  async complete(channelId, command, options) {
    const outcome = await this.#send(KIND.AUTOCOMPLETE, channelId, command.application_id, {
      data: commandData(command, options),
    });
    return outcome.choices ?? [];
  }

  press(message, component, values) {
    const data = { component_type: component.type, custom_id: component.custom_id };
    if (values) data.values = values;
    const application = message.application_id ?? message.author.id;
    return this.#send(KIND.COMPONENT, message.channel_id, application, {
      message_id: message.id,
      message_flags: message.flags ?? 0,
      data,
    });
  }

  submit(modal, components) {
    const application = modal.application?.id ?? modal.application_id;
    return this.#send(KIND.MODAL, modal.channel_id, application, {
      data: { id: modal.id, custom_id: modal.custom_id, components },
    });
  }

  async #send(type, channelId, applicationId, rest, files = []) {
    const nonce = makeNonce();
    const channel = this.#store.channels.get(channelId);
    const guildId = channel?.guild_id ?? (channel?.recipients ? undefined : this.#store.guild.id);
    const body = {
      type,
      application_id: applicationId,
      guild_id: guildId,
      channel_id: channelId,
      session_id: this.#gateway.session,
      nonce,
      ...rest,
    };
    const outcome = this.#expect(nonce);
    try {
      if (files.length) await this.#api.upload("POST", "/interactions", body, files);
      else await this.#api.post("/interactions", body);
    } catch (error) {
      this.#settle(nonce, null, error);
    }
    return outcome;
  }

  #expect(nonce) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(nonce, null, new Error(NO_ANSWER)), OUTCOME_MS);
      this.#waiting.set(nonce, { resolve, reject, timer });
    });
  }

  #receive(type, data) {
    switch (type) {
      case "INTERACTION_SUCCESS":
      case "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE":
        return this.#settle(data.nonce, data);
      case "INTERACTION_FAILURE":
        return this.#settle(data.nonce, null, new Error(NO_ANSWER));
      case "INTERACTION_MODAL_CREATE":
        this.#settle(data.nonce, data);
        return this.onModal(data);
      default:
        return undefined;
    }
  }

  #settle(nonce, value, error = null) {
    const waiting = this.#waiting.get(String(nonce));
    if (!waiting) return;
    this.#waiting.delete(String(nonce));
    clearTimeout(waiting.timer);
    if (error) waiting.reject(error);
    else waiting.resolve(value);
  }
}

/** Each sub-command is its own entry: `/schedule add`. */
function flatten(command, path, options = command.options ?? [], description = command.description) {
  const inner = options.filter((option) => option.type === COMMAND.SUB || option.type === COMMAND.GROUP);
  if (!inner.length)
    return [
      { ...command, path, options, description, label: [command.name, ...path.map((step) => step.name)].join(" ") },
    ];
  return inner.flatMap((option) =>
    flatten(command, [...path, { type: option.type, name: option.name }], option.options ?? [], option.description),
  );
}

function commandData(command, options) {
  // Nested from the innermost sub-command outwards.
  const nested = command.path.reduceRight((inner, { type, name }) => [{ type, name, options: inner }], options);
  const data = { id: command.id, name: command.name, type: COMMAND.CHAT, version: command.version, options: nested };
  if (command.guild_id) data.guild_id = command.guild_id;
  return data;
}
