// Keeps the kanban page up to date and opens items in a dialog. The page also works without this script.

import { fetchPage, follow } from "./live.js";

const TYPING_MS = 250;

const kanban = document.getElementById("kanban");
const filter = document.getElementById("filter");
const details = document.getElementById("details");
let opened = null;

/** Replaces the cards of a column. An unchanged card keeps its element, and so its focus. */
function takeOver(shown, fresh) {
  const known = new Map([...kanban.querySelectorAll(".card")].map((card) => [card.dataset.id, card]));
  const cards = [...fresh.querySelector(".cards").children].map((card) => {
    const same = known.get(card.dataset.id);
    return same?.isEqualNode(card) ? same : document.importNode(card, true);
  });
  const list = shown.querySelector(".cards");
  if (cards.length !== list.children.length || cards.some((card, index) => list.children[index] !== card))
    list.replaceChildren(...cards);
  shown.querySelector("h2").replaceChildren(...document.importNode(fresh.querySelector("h2"), true).childNodes);
  shown.querySelector(".more")?.remove();
  const more = fresh.querySelector(".more");
  if (more) shown.append(document.importNode(more, true));
}

async function refresh() {
  const page = await fetchPage(location.href);
  const focused = document.activeElement?.closest(".card")?.dataset.id;
  for (const column of kanban.querySelectorAll(".column")) {
    takeOver(column, page.getElementById(column.id));
    document.getElementById(`${column.id}-jump`).textContent = page.getElementById(`${column.id}-jump`).textContent;
  }
  kanban.dataset.mark = page.getElementById("kanban").dataset.mark;
  if (focused && !document.activeElement?.closest(".card"))
    kanban.querySelector(`[data-id="${CSS.escape(focused)}"] .what`)?.focus({ preventScroll: true });
  if (opened) await show(opened, () => opened !== null);
}

const keepUp = follow(kanban, refresh);

/** Every page comes with keys of its own. The forms that are shown keep theirs, so that nothing but a change replaces them. */
function keepKeys(old, item) {
  const key = old.querySelector("input[name=key]")?.getAttribute("value");
  if (key) for (const input of item.querySelectorAll("input[name=key]")) input.setAttribute("value", key);
}

/** Takes over what was typed and unfolded. Returns the field that has the focus. */
function keepTyped(old, item) {
  let focused = null;
  for (const form of item.querySelectorAll("form[data-act]")) {
    const before = old.querySelector(`form[data-act="${CSS.escape(form.dataset.act)}"]`);
    if (!before) continue;
    if (before.closest("details")?.open) form.closest("details")?.setAttribute("open", "");
    for (const field of form.querySelectorAll("input:not([type=hidden]), textarea, select")) {
      const same = before.elements[field.name];
      const written = field.matches("select") ? [...same.options].some((option) => option.selected !== option.defaultSelected) : same.value !== same.defaultValue;
      if (written) field.value = same.value;
      if (same === document.activeElement) focused = field;
    }
  }
  return focused;
}

/** Shows an item in the dialog, or updates the one shown. Not if it is not wanted any more when the item is there. */
async function show(address, isWanted = () => true) {
  const page = await fetchPage(address);
  if (!isWanted()) return;
  const item = document.importNode(page.getElementById("item"), true);
  const old = details.querySelector("article");
  const close = Object.assign(document.createElement("button"), { className: "close", textContent: "Close" });
  close.addEventListener("click", () => details.close());
  if (!old || opened !== address) {
    details.replaceChildren(close, item);
    details.scrollTop = 0;
  } else {
    keepKeys(old, item);
    if (old.isEqualNode(item)) return;
    const unfolded = [...old.querySelectorAll(".journal > li")].map((line) => line.querySelector("details")?.open);
    item.querySelectorAll(".journal > li").forEach((line, index) => {
      if (unfolded[index]) line.querySelector("details")?.setAttribute("open", "");
    });
    const focused = keepTyped(old, item);
    old.replaceWith(item);
    focused?.focus({ preventScroll: true });
  }
  opened = address;
  if (!details.open) details.showModal();
}

/** Opens an item in the dialog, or as a page if that fails. */
function open(address) {
  return show(address).catch(() => location.assign(address));
}

/** Shows an item, and above what can be done with it why it was not moved. */
async function explain(address, why) {
  await show(address);
  details.querySelector(".acts").before(Object.assign(document.createElement("p"), { className: "wait", textContent: why }));
}

/** A card that is dragged to a column gets what a button of the item does. Without such a button the item opens. */
async function move(id, column) {
  const address = `/backlog/items/${id}`;
  const page = await fetchPage(address);
  const button = page.querySelector(`#item [data-to="${CSS.escape(column.id)}"]`);
  if (!button || button.form.querySelector("textarea")) {
    await (button ? show(address) : explain(address, `This cannot be moved to “${column.dataset.title}”. Here is what you can do with it.`));
    details.querySelector("textarea")?.focus();
    return;
  }
  const form = new FormData(button.form, button);
  const action = button.getAttribute("formaction") ?? button.form.getAttribute("action");
  const response = await fetch(action, { method: "POST", body: form });
  await keepUp();
  if (!response.ok) {
    const refused = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("main p");
    return explain(address, refused?.textContent ?? "That didn't work. Check the item before you move it again.");
  }
  // The answer may be a question, as when work would be thrown away.
  if (response.redirected) await show(new URL(response.url).pathname + new URL(response.url).search);
}

let dragged = null;
kanban.addEventListener("dragstart", (event) => {
  dragged = event.target.closest?.(".card");
  if (!dragged) return;
  event.dataTransfer.setData("text/plain", dragged.dataset.id);
  event.dataTransfer.effectAllowed = "move";
});
kanban.addEventListener("dragover", (event) => {
  const column = event.target.closest?.(".column");
  if (!dragged || !column) return;
  event.preventDefault();
  for (const one of kanban.querySelectorAll(".column")) one.classList.toggle("target", one === column);
});
kanban.addEventListener("dragend", () => {
  dragged = null;
  for (const one of kanban.querySelectorAll(".column")) one.classList.remove("target");
});
kanban.addEventListener("drop", (event) => {
  const column = event.target.closest?.(".column");
  if (!dragged || !column) return;
  event.preventDefault();
  const { id } = dragged.dataset;
  // Within “Next” it becomes the first.
  if (column.contains(dragged) && column.id !== "next") return;
  move(id, column).catch(() => location.assign(`/backlog/items/${id}`));
});

document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="/backlog/items/"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  open(link.getAttribute("href"));
});
// A click on the backdrop has the dialog as its target.
details.addEventListener("click", (event) => event.target === details && details.close());
details.addEventListener("close", () => (opened = null));

let typing = 0;
function applyFilter() {
  const asked = new URLSearchParams([...new FormData(filter)].filter(([, value]) => value));
  history.replaceState(null, "", asked.size ? `/backlog?${asked}` : "/backlog");
  keepUp();
}
filter.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(applyFilter, TYPING_MS);
});
filter.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typing);
  applyFilter();
});
filter.querySelector("button").hidden = true;
