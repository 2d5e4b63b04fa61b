// Keeps a page up to date: the server says when the backlog has changed, and the page takes over what is new.

const EVERY_MS = 60_000; // Ages change, and a page may have no live updates.
const AGAIN_MS = 10_000;

const live = document.getElementById("live");

export async function fetchPage(address) {
  const response = await fetch(address, { headers: { accept: "text/html" } });
  // The token has changed: reload to show the sign-in page.
  if (response.status === 401) location.reload();
  if (!response.ok) throw new Error(`${response.status}`);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

function say(text, isLive) {
  if (live.textContent !== text) live.textContent = text;
  live.classList.toggle("on", isLive);
}

/** Calls `refresh` whenever the element shows another state than the server has. Returns a function that does it at once. */
export function follow(shown, refresh) {
  // One refresh at a time. A request during a refresh causes one more at the end.
  let busy = false;
  let again = false;
  async function keepUp() {
    again = busy;
    if (busy) return;
    busy = true;
    try {
      await refresh();
    } catch {
      say("Not up to date: cannot reach the team", false);
    } finally {
      busy = false;
      if (again) keepUp();
    }
  }

  function listen() {
    const events = new EventSource("/backlog/live");
    events.addEventListener("mark", (event) => {
      say("Live", true);
      if (event.data !== shown.dataset.mark) keepUp();
    });
    events.addEventListener("error", () => {
      say("Live updates are off", false);
      // The browser reconnects by itself, unless the server refused.
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, AGAIN_MS);
    });
    // Closes the connection with the page. Otherwise the browser logs an error.
    addEventListener("pagehide", () => events.close(), { once: true });
  }

  setInterval(() => document.visibilityState === "visible" && keepUp(), EVERY_MS);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && keepUp());
  listen();
  return keepUp;
}
