// Light or dark theme: the system's until the person chooses one. `index.html` loads `theme_early.js` before the first
// paint, so that the page does not flash.

export function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("teamroom.theme", root.dataset.theme);
  } catch {
    // Without storage the choice is lost on reload.
  }
}
