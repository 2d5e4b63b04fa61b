/** A reason as a sentence of its own, whoever wrote it: with a capital and one full stop. */
export function sentence(text) {
  const words = text.trim();
  return words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".");
}
