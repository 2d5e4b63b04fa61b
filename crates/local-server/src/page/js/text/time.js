// Formats times in the reader's time zone and language.

const formats = {
  t: new Intl.DateTimeFormat(undefined, { timeStyle: "short" }),
  T: new Intl.DateTimeFormat(undefined, { timeStyle: "medium" }),
  d: new Intl.DateTimeFormat(undefined, { dateStyle: "short" }),
  D: new Intl.DateTimeFormat(undefined, { dateStyle: "long" }),
  f: new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" }),
  F: new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" }),
};
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const STEPS = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
  ["year", Infinity],
];

// Discord's epoch: the first second of 2015.
const EPOCH = 1420070400000n;

/** The creation time of a snowflake. */
export function timeOf(id) {
  return new Date(Number((BigInt(id) >> 22n) + EPOCH));
}

/** Snowflakes are decimal strings beyond the safe integers, so they are compared by length, then as text. */
export function compareIds(a, b) {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** One of Discord's timestamp styles: `t T d D f F R`. */
export function formatTime(date, style = "f", now = Date.now()) {
  if (Number.isNaN(date.getTime())) return "an unknown time";
  return style === "R" ? formatRelative(date, now) : formats[style].format(date);
}

function formatRelative(date, now) {
  let amount = (date.getTime() - now) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(amount) < size) return relative.format(Math.round(amount), unit);
    amount /= size;
  }
  return formats.D.format(date);
}

export function sameDay(a, b) {
  return a.getFullYear() === b.getFullYear() && a.getMonth() === b.getMonth() && a.getDate() === b.getDate();
}

/** "Today", "Yesterday", or the date. */
export function formatDay(date, now = new Date()) {
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (sameDay(date, now)) return "Today";
  if (sameDay(date, yesterday)) return "Yesterday";
  return formats.D.format(date);
}

export function formatSize(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
