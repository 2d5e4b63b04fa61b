// Light or dark: the system's choice until the person makes one. `index.html` loads `theme_early.js`
// before the first paint, so that the page never flashes in the other one.

export function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("teamroom.theme", root.dataset.theme);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
