// The members: personas and people, with presence and activity.

import { avatar, toneOf } from "./elements/avatar.js";
import { openDialog } from "./dialogs/dialogs.js";
import { h, hidden, iconButton } from "./elements/dom.js";
import { icon } from "./elements/icons.js";
import { showHome } from "./dialogs/home.js";
import { personaId } from "../state/store.js";

const ORDER = { online: 0, idle: 1, dnd: 2, offline: 3 };
const WORDS = { online: "online", idle: "away", dnd: "busy", offline: "offline" };
const CUSTOM_STATUS = 4;

export class People {
  #page;
  #lists = h("div", { class: "people-lists" });
  #frame = 0;

  constructor(page, element) {
    this.#page = page;
    const close = iconButton(icon("close"), "Close", () => page.openDrawer(null), { class: "icon only-narrow" });
    element.replaceChildren(
      h("header", { class: "heading" }, h("h2", {}, "Members"), h("span", { class: "space" }), close),
      this.#lists,
    );
    for (const topic of ["people", "guild"]) page.store.on(topic, () => this.#schedule());
    this.#draw();
  }

  #schedule() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const { store } = this.#page;
    const focused = document.activeElement?.dataset?.person;
    const rank = (person) => ORDER[store.presence(person.id).status] ?? 3;
    const sorted = store.listPeople().sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
    const group = (title, people) =>
      people.length
        ? [
            h("h3", {}, `${title} — ${people.length}`),
            h(
              "ul",
              {},
              people.map((person) => this.#renderPerson(person)),
            ),
          ]
        : [];
    this.#lists.replaceChildren(
      ...group("Team", [...sorted.filter((p) => p.bot), ...this.#listNamed()]),
      ...group(
        "People",
        sorted.filter((p) => !p.bot),
      ),
    );
    if (focused) this.#lists.querySelector(`[data-person="${focused}"]`)?.focus();
  }

  /** Personas without an account, who are called by their names. */
  #listNamed() {
    return this.#page.team
      .filter(({ id }) => !id)
      .map(({ name }) => ({ id: personaId(name), name, bot: true, color: 0, named: true }));
  }

  #renderPerson(person) {
    const presence = person.named ? { status: "online" } : this.#page.store.presence(person.id);
    const doing = describeActivity(presence) || this.#page.roles.get(person.id);
    return h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: `person ${presence.status}`,
          data: { person: person.id },
          onclick: () => (person.named ? this.#page.address(person.name) : this.#page.openPerson(person.id)),
        },
        h(
          "span",
          { class: "portrait" },
          avatar(person),
          h("span", { class: `presence ${presence.status}`, "aria-hidden": "true" }),
        ),
        h(
          "span",
          { class: "who" },
          h("span", { class: person.color ? "name toned" : "name", vars: { "--tone": toneOf(person) } }, person.name),
          doing ? h("span", { class: "doing" }, doing) : null,
        ),
        hidden(`, ${WORDS[presence.status] ?? presence.status}`),
      ),
    );
  }
}

export function describeActivity(presence) {
  const activity = presence.activities?.[0];
  if (!activity || presence.status === "offline") return "";
  return activity.type === CUSTOM_STATUS ? (activity.state ?? "") : activity.name;
}

/** A card about one account, with its actions. */
export function showPerson(page, id) {
  const person = page.store.person(id);
  const presence = page.store.presence(id);
  const roles = (page.store.members.get(id)?.roles ?? [])
    .map((role) => page.store.roles.get(role)?.name)
    .filter((role) => role && role !== person.name);
  return openDialog(person.name, "small card", (close) =>
    [
      h(
        "div",
        { class: "card-head" },
        avatar(person, "avatar large"),
        h(
          "div",
          {},
          h("h2", {}, person.name, person.bot ? h("span", { class: "tag" }, page.traits.tag) : null),
          h(
            "p",
            { class: "hint" },
            [page.roles.get(id), WORDS[presence.status] ?? presence.status, describeActivity(presence)].filter(Boolean).join(" · "),
          ),
        ),
      ),
      roles.length
        ? h(
            "p",
            { class: "roles" },
            roles.map((role) => h("span", { class: "role" }, role)),
          )
        : null,
      h(
        "div",
        { class: "dialog-actions" },
        person.home
          ? h(
              "button",
              { type: "button", class: "control secondary", onclick: () => close(showHome(page, person)) },
              "Home",
            )
          : null,
        person.me
          ? null
          : h(
              "button",
              { type: "button", class: "control secondary", onclick: () => close(page.mention(id)) },
              "Mention",
            ),
        person.me
          ? h("button", { type: "button", class: "control primary", onclick: () => close() }, "Close")
          : h(
              "button",
              { type: "button", class: "control primary", onclick: () => close(page.openDirect(id)) },
              "Message",
            ),
      ),
    ].filter(Boolean),
  );
}
