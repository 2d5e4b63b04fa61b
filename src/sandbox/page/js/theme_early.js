// Runs before the first paint, as a classic script: a module would come too late.
try {
  const theme = localStorage.getItem("teamroom.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser without storage follows the system.
}
