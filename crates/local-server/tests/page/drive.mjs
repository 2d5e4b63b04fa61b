// What the scripts that drive a page in headless Chromium share: a browser, steps with their outcome, and complaints.

import { mkdir } from "node:fs/promises";
import { chromium } from "playwright-core";

// Without these flags Chromium contacts Google's hosts at every start.
const FLAGS =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split(
    " ",
  );
// A busy machine is ten times slower.
const PATIENCE_MS = 60_000;

export function check(condition, what) {
  if (!condition) throw new Error(what);
}

/** Starts a browser for the page at `url`. Screenshots of failed steps go to `shots`. */
export async function drive(url, shots) {
  await mkdir(shots, { recursive: true });
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
  const complaints = [];
  let steps = 0;
  let first = null;

  /** Opens the page in a new browser profile. Records errors and requests to other hosts. */
  async function open({ width = 1280, height = 800, colorScheme = "light", hasTouch = false, hash = "" } = {}) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme,
      hasTouch,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    first ??= page;
    page.setDefaultTimeout(PATIENCE_MS);
    page.on(
      "console",
      (message) =>
        ["error", "warning"].includes(message.type()) &&
        complaints.push(`console: ${message.text()} (${message.location().url})`),
    );
    page.on("pageerror", (error) => complaints.push(`error: ${error.stack}`));
    page.on(
      "request",
      (request) =>
        new URL(request.url()).host !== new URL(url).host &&
        !request.url().startsWith("blob:") &&
        complaints.push(`asked elsewhere: ${request.url()}`),
    );
    // So that a step can cut the connection.
    await page.addInitScript(() => {
      globalThis.sockets = [];
      globalThis.WebSocket = class extends WebSocket {
        constructor(...address) {
          super(...address);
          sockets.push(this);
        }
      };
    });
    await page.goto(`${url}${hash}`);
    await page.waitForSelector("body:not(.starting) .composer textarea");
    return page;
  }

  async function step(name, work) {
    steps += 1;
    try {
      await work();
      console.log(`ok ${steps} ${name}`);
    } catch (error) {
      console.log(`FAILED ${steps} ${name}\n    ${error.message.split("\n").slice(0, 6).join("\n    ")}`);
      complaints.push(`step: ${name}`);
      await first?.screenshot({ path: `${shots}/failed-${steps}.png` }).catch(() => {});
    }
  }

  /** Ends the process, with a status other than 0 if there were complaints. */
  async function finish() {
    await browser.close();
    for (const complaint of complaints) console.log(`COMPLAINT ${complaint}`);
    console.log(complaints.length ? `failed: ${complaints.length} complaints in ${steps} steps` : `ok: ${steps} steps`);
    process.exit(complaints.length ? 1 : 0);
  }

  return { open, step, finish, complaints };
}
