// Ctrl K: go to a channel, a thread or a persona by its name.

import { avatar } from "../elements/avatar.js";
import { Completion } from "../elements/completion.js";
import { openDialog } from "./dialogs.js";
import { h } from "../elements/dom.js";
import { icon } from "../elements/icons.js";

const MOST = 12;

export function showSwitcher(page) {
  return openDialog("Go to", "switcher", (close) => {
    const input = h("input", {
      type: "text",
      placeholder: "Channel or persona",
      "aria-label": "Channel or persona",
      autofocus: true,
      autocomplete: "off",
    });
    const completion = new Completion(input);
    const places = listPlaces(page);
    const take = (entry) => {
      close();
      entry.go();
    };
    const search = () => completion.open(rank(places, input.value.trim().toLowerCase()).slice(0, MOST), take);
    input.addEventListener("input", search);
    input.addEventListener("keydown", (event) => event.key !== "Escape" && completion.key(event));
    requestAnimationFrame(search);
    return [input, completion.element, h("p", { class: "hint" }, "↑ ↓ choose, Enter goes there")];
  });
}

function listPlaces(page) {
  const { store } = page;
  const channels = store.listChannels();
  const threads = channels.flatMap((channel) => store.listThreads(channel.id));
  const people = store.listPeople().filter((person) => !person.me);
  return [
    ...channels.map((channel) => ({
      label: `#${channel.name}`,
      picture: icon("hash"),
      detail: "",
      unread: store.reads.isUnread(channel),
      go: () => page.openChannel(channel.id),
    })),
    ...threads.map((thread) => ({
      label: thread.name,
      picture: icon("thread"),
      detail: `#${store.channels.get(thread.parent_id)?.name ?? ""}`,
      unread: store.reads.isUnread(thread),
      go: () => page.openChannel(thread.id),
    })),
    ...people.map((person) => ({
      label: person.name,
      picture: avatar(person, "avatar tiny"),
      detail: "message",
      unread: false,
      go: () => page.openDirect(person.id),
    })),
  ];
}

/** Names that start with the letters come first, and unread before read. */
function rank(places, letters) {
  const score = (place) => {
    const name = place.label.replace(/^#/, "").toLowerCase();
    if (name.startsWith(letters)) return place.unread ? 0 : 1;
    return name.includes(letters) ? 2 : null;
  };
  const found = places.map((place) => ({ place, score: score(place) })).filter((entry) => entry.score !== null);
  return found.sort((a, b) => a.score - b.score).map((entry) => entry.place);
}
