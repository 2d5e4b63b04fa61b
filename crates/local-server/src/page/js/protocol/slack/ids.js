// Converts between Slack's timestamps, which identify a message within its conversation, and the page's ids, which have
// Discord's form: milliseconds since 2015, then 22 bits, which hold the microseconds here. A thread has the id of its
// first message.

const EPOCH_MS = 1420070400000n;

/** The page's id of a timestamp such as `1790812800.000100`. */
export function idOf(ts) {
  const [seconds, fraction = ""] = ts.split(".");
  const micros = BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, "0"));
  return String(((micros / 1000n - EPOCH_MS) << 22n) | (micros % 1000n << 12n));
}

/** The timestamp of an id. */
export function tsOf(id) {
  const number = BigInt(id);
  const micros = ((number >> 22n) + EPOCH_MS) * 1000n + ((number >> 12n) & 0x3ffn);
  return `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, "0")}`;
}
