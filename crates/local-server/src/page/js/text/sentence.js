/** Formats an error message as a sentence, with a capital letter and one full stop. */
export function sentence(text) {
  const words = text.trim();
  return words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".");
}
