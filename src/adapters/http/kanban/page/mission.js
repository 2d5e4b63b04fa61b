// Keeps the graph of a mission up to date. The page also works without this script.

import { fetchPage, follow } from "./live.js";

const mission = document.getElementById("mission");

/** Replaces what an element contains, if that has changed. It stays where it was scrolled to. */
function takeOver(shown, fresh) {
  if (shown.isEqualNode(fresh)) return;
  shown.className = fresh.className;
  shown.replaceChildren(...document.importNode(fresh, true).childNodes);
}

async function refresh() {
  const page = await fetchPage(location.href);
  const focused = document.activeElement?.closest("#mission a")?.getAttribute("href");
  for (const id of ["about", "graph"]) takeOver(document.getElementById(id), page.getElementById(id));
  mission.dataset.mark = page.getElementById("mission").dataset.mark;
  if (focused && !document.activeElement?.closest("#mission a"))
    mission.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

follow(mission, refresh);
