// Dialogs, with the browser's `<dialog>`. Each function resolves with the choice, or null.

import { h } from "../elements/dom.js";

const EMOJI = "👍 👎 ❤️ 🎉 😄 😂 🙂 🤔 😮 😢 😡 🙏 👀 🚀 ✅ ❌ ⚠️ 🔥 💯 👏 💡 📌 🐛 ⏳ ☕ 🌱 ⭐ 🤝 🧪 📈 📉 🏁".split(
  " ",
);

/** Opens `content` and resolves with what `close` was called with, or null. */
export function openDialog(label, className, build) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { class: className, "aria-label": label });
    let result = null;
    const close = (value = null) => {
      result = value;
      dialog.close();
    };
    dialog.append(...[build(close)].flat());
    // A click on the backdrop has the dialog as its target.
    dialog.addEventListener("pointerdown", (event) => event.target === dialog && close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function cancelButton(close) {
  return h("button", { type: "button", class: "control secondary", onclick: () => close() }, "Cancel");
}

const MODEL_LINES = [
  ["A model on this machine, or any OpenAI-compatible address", "TEAMROOM_MODEL_URL=http://127.0.0.1:11434/v1\nTEAMROOM_MODEL=llama3.2"],
  ["Anthropic", "ANTHROPIC_API_KEY=…"],
  ["OpenAI", "OPENAI_API_KEY=…"],
];

/** Tells how to connect a language model. Keys do not belong on this page. */
export function showModelHelp() {
  return openDialog("Connect a language model", "", (close) => [
    h("h2", {}, "Connect a language model"),
    h("p", {}, "Write one of these into the file .env, in the folder where you started the sandbox. The team takes it over by itself."),
    MODEL_LINES.map(([what, lines]) => [h("p", { class: "hint" }, what), h("pre", {}, h("code", {}, lines))]),
    h("p", { class: "hint" }, "Ollama, LM Studio, llama.cpp and vLLM on this machine are found when the sandbox starts."),
    h(
      "div",
      { class: "dialog-actions" },
      h("button", { type: "button", class: "control primary", onclick: () => close() }, "Close"),
    ),
  ].flat(2));
}

export function confirm({ title, text, action }) {
  return openDialog(title, "small", (close) =>
    h(
      "form",
      { method: "dialog", onsubmit: () => close(true) },
      h("h2", {}, title),
      h("p", { class: "quoted", dir: "auto" }, text),
      h(
        "div",
        { class: "dialog-actions" },
        cancelButton(close),
        h("button", { class: "control danger", autofocus: true }, action),
      ),
    ),
  );
}

export function askText({ title, label, value, action, max }) {
  return openDialog(title, "small", (close) => {
    const input = h("input", { type: "text", required: true, maxlength: max, value, autofocus: true });
    const submit = (event) => {
      event.preventDefault();
      if (input.value.trim()) close(input.value.trim());
    };
    return h(
      "form",
      { onsubmit: submit },
      h("h2", {}, title),
      h("label", { class: "labelled" }, h("span", {}, label), input),
      h("div", { class: "dialog-actions" }, cancelButton(close), h("button", { class: "control primary" }, action)),
    );
  });
}

/** One of a few things to do, each with a label and a value. */
export function choose(title, options) {
  return openDialog(title, "small", (close) => [
    h("h2", {}, title),
    h(
      "div",
      { class: "choices" },
      options.map(({ label, value }) =>
        h("button", { type: "button", class: "control secondary", onclick: () => close(value) }, label),
      ),
    ),
    h("div", { class: "dialog-actions" }, cancelButton(close)),
  ]);
}

export function pickEmoji() {
  return openDialog("Choose a reaction", "small picker", (close) => [
    h("h2", {}, "React"),
    h(
      "div",
      { class: "emoji-grid" },
      EMOJI.map((emoji) => h("button", { type: "button", onclick: () => close(emoji) }, emoji)),
    ),
  ]);
}

const KEYS = [
  ["Ctrl F", "Search all messages"],
  ["Ctrl K", "Go to a channel or persona"],
  ["Alt ↑ ↓", "Previous or next channel"],
  ["Alt Shift ↑ ↓", "Previous or next unread channel"],
  ["↑", "Edit your last message (in an empty composer)"],
  ["/", "Slash commands"],
  ["@ #", "Complete a persona or channel"],
  ["Esc", "Mark as read, or close what is open"],
  ["Shift Tab", "From the composer to the messages"],
  ["↑ ↓", "Move between messages, then:"],
  ["R  E  T", "reply, edit, thread"],
  ["+  C  M  Del", "react, copy, more, delete"],
  ["?", "This list"],
];

/** `traits` are those of the platform. */
export function showHelp(traits) {
  const rows = KEYS.map(([keys, words]) => [
    h(
      "dt",
      {},
      keys.split(/\s+/).map((key) => h("kbd", {}, key)),
    ),
    h("dd", {}, words),
  ]);
  return openDialog("Keyboard", "help", (close) => [
    h("h2", {}, "Keyboard"),
    h("dl", { class: "keys" }, rows),
    h(
      "p",
      { class: "hint" },
      `This is a local sandbox: it works like ${traits.name}, but nothing leaves this machine and nobody else can read it.`,
    ),
    h(
      "div",
      { class: "dialog-actions" },
      h("button", { type: "button", class: "control primary", autofocus: true, onclick: () => close() }, "Close"),
    ),
  ]);
}
