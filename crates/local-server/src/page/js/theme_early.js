// Runs before the first paint, as a classic script. A module would run too late.
try {
  const theme = localStorage.getItem("teamroom.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the page follows the system.
}
