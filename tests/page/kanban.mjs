// Drives the kanban page in headless Chromium, as a person would.
//
//     node kanban.mjs PAGE_URL GUARDED_URL TOKEN ARRIVE_URL SCREENSHOT_DIR
//
// The page at GUARDED_URL asks for the token. A POST to ARRIVE_URL adds an item to the backlog of the page at PAGE_URL.
// Prints one line per step and ends with a status other than 0 when one failed.

import { mkdir } from "node:fs/promises";
import { chromium } from "playwright-core";
import { findSmallTargets, findWeakContrast } from "./looks.mjs";

const [url, guarded, token, arrive, shots] = process.argv.slice(2);
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
// Without these Chromium looks for Google's hosts at every start.
const FLAGS =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split(
    " ",
  );
// A busy machine is ten times slower.
const PATIENCE_MS = 180_000;
const CONTROLS = "button, input, select, .jump a, .card .what, .graph-link, .step, summary, .back";

await mkdir(shots, { recursive: true });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
const complaints = [];
let steps = 0;

/** A fresh browser profile on a board; whatever it complains about or asks elsewhere is recorded. */
async function open({ width = 1280, height = 800, at = url, mayComplain = false, ...rest } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, ...rest });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const isTrouble = (message) => ["error", "warning"].includes(message.type()) && !mayComplain;
  page.on("console", (message) => isTrouble(message) && complaints.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.stack}`));
  page.on(
    "request",
    (request) => new URL(request.url()).host !== new URL(at).host && complaints.push(`asked elsewhere: ${request.url()}`),
  );
  await page.goto(at);
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
    await page.screenshot({ path: `${shots}/board-failed-${steps}.png` }).catch(() => {});
  }
}

function check(condition, what) {
  if (!condition) throw new Error(what);
}

const card = (view, text) => view.locator(".card", { hasText: text });
const page = await open();

await step("the page says that it is live", async () => {
  await page.locator("#live.on", { hasText: "Live" }).waitFor();
  check((await page.locator(".column").count()) === 5, "there are five columns");
});

await step("an item that arrives is there without a reload, and the focus stays where it was", async () => {
  await page.evaluate(() => (globalThis.sameDocument = true));
  await card(page, "Profile the checkout").locator(".what").focus();
  check((await card(page, "It arrived").count()) === 0, "it has not arrived yet");
  await fetch(arrive, { method: "POST" });
  await card(page, "It arrived").waitFor();
  check(await page.evaluate(() => sameDocument), "the document is the same");
  const focused = await page.evaluate(() => document.activeElement.textContent);
  check(focused.includes("Profile the checkout"), `the focus is on “${focused}”`);
});

await step("with the keyboard a card opens, shows what is known, and closes", async () => {
  await card(page, "Profile the checkout").locator(".what").focus();
  await page.keyboard.press("Enter");
  const dialog = page.locator("dialog[open]");
  await dialog.waitFor();
  for (const words of ["Checkout got slow.", "sha256 abab", "Measure first", "the profile is posted", "History"])
    check((await dialog.textContent()).includes(words), `“${words}” is shown`);
  await page.screenshot({ path: `${shots}/board-item.png` });
  const weak = await page.evaluate(findWeakContrast);
  check(weak.length === 0, `too little contrast: ${weak.slice(0, 5).join("; ")}`);
  await dialog.getByRole("link", { name: "Measure first" }).click();
  await page.waitForFunction(() => document.querySelector("dialog h1").textContent === "Measure first");
  await page.keyboard.press("Escape");
  check((await page.locator("dialog[open]").count()) === 0, "it is closed");
  const focused = await page.evaluate(() => document.activeElement.textContent);
  check(focused.includes("Profile the checkout"), `the focus is back, not on “${focused}”`);
});

await step("words and an owner narrow the board, and the address says so", async () => {
  await page.getByRole("searchbox").fill("CHECKOUT");
  await page.waitForFunction(() => document.querySelectorAll(".card").length === 1);
  check(page.url().endsWith("/backlog?text=CHECKOUT"), page.url());
  await page.getByRole("searchbox").fill("");
  await page.getByLabel("Owner").selectOption({ label: "Ben" });
  await page.waitForFunction(() => [...document.querySelectorAll(".card")].every((card) => card.textContent.includes("Ben")));
  await page.reload();
  check((await page.getByLabel("Owner").inputValue()) === "person:7", "the choice outlives a reload");
  await page.goto(url);
});

await step("hostile words are shown as words", async () => {
  check((await page.locator(".card img, .card script").count()) === 0, "nothing of it is markup");
  check((await page.evaluate(() => globalThis.spoiled)) === undefined, "nothing of it ran");
});

for (const [device, size] of [
  ["desktop", { width: 1280, height: 800 }],
  ["laptop", { width: 1000, height: 800 }],
  ["tablet", { width: 768, height: 1024 }],
  ["phone", { width: 390, height: 844, hasTouch: true, isMobile: true }],
]) {
  for (const colorScheme of ["light", "dark"]) {
    await step(`${device}, ${colorScheme}: it can be read and nothing overflows`, async () => {
      const view = await open({ ...size, colorScheme });
      await view.locator("#live.on").waitFor();
      await view.screenshot({ path: `${shots}/board-${device}-${colorScheme}.png`, fullPage: device === "phone" });
      const wide = await view.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `the page is ${wide} px too wide`);
      const hidden = await view.evaluate(() =>
        [...document.querySelectorAll(".column, .jump a")].filter((node) => node.getBoundingClientRect().right > innerWidth).map((node) => node.textContent.trim().slice(0, 20)),
      );
      check(hidden.length === 0, `beyond the edge: ${hidden[0]}`);
      const weak = await view.evaluate(findWeakContrast);
      check(weak.length === 0, `too little contrast: ${weak.slice(0, 5).join("; ")}`);
      const small = await view.evaluate(findSmallTargets, CONTROLS);
      check(small.length === 0, `too small for a finger: ${small.slice(0, 5).join("; ")}`);
      if (device === "phone") {
        await view.locator(".jump a", { hasText: "Done" }).click();
        await view.waitForFunction(() => document.querySelector("#done").getBoundingClientRect().top < innerHeight / 2);
        await card(view, "Profile the checkout").locator(".what").tap();
        await view.locator("dialog[open]").waitFor();
        await view.screenshot({ path: `${shots}/board-${device}-${colorScheme}-item.png` });
        const wide = await view.evaluate(() => document.querySelector("dialog").scrollWidth - document.querySelector("dialog").clientWidth);
        check(wide <= 0, `the item is ${wide} px too wide`);
      }
      await view.context().close();
    });
  }
}

await step("what is typed into an open item outlives a change of the board", async () => {
  const view = await open();
  await view.locator("#live.on").waitFor();
  await card(view, "Compare the three suppliers").locator(".what").click();
  const dialog = view.locator("dialog[open]");
  await dialog.locator("summary", { hasText: "Assign" }).click();
  await dialog.getByLabel("New owner").fill("Kel");
  const mark = await view.locator("#kanban").getAttribute("data-mark");
  await fetch(arrive, { method: "POST" });
  await view.waitForFunction((mark) => document.querySelector("#kanban").dataset.mark !== mark, mark);
  check((await dialog.getByLabel("New owner").inputValue()) === "Kel", "the name is still there");
  check(await view.evaluate(() => document.activeElement.name === "owner"), "the focus is still in the field");
  await dialog.getByLabel("New owner").fill("Kelly");
  await dialog.getByRole("button", { name: "Assign" }).click();
  await view.getByRole("status").filter({ hasText: "You changed an item" }).waitFor();
  check((await view.locator(".who").first().textContent()).includes("Kelly"), "Kelly owns it");
  await view.screenshot({ path: `${shots}/board-assigned.png`, fullPage: true });
  await view.context().close();
});

await step("a card that is dragged to a column gets what a button would do, and a mission narrows the page", async () => {
  const view = await open();
  await view.locator("#live.on").waitFor();
  const column = (id) => view.locator(`#${id}`);
  // So that all columns are in view.
  await view.getByRole("searchbox").fill("Sketch the");
  await view.waitForFunction(() => document.querySelectorAll(".card").length === 1);
  await card(view, "Sketch the landing page").dragTo(column("ended"), { sourcePosition: { x: 20, y: 60 } });
  await view.locator("dialog[open] .sent", { hasText: "You cancelled" }).waitFor();
  await view.keyboard.press("Escape");
  await column("ended").locator(".card", { hasText: "Sketch the landing page" }).waitFor();
  await card(view, "Sketch the landing page").dragTo(column("next"), { sourcePosition: { x: 20, y: 60 } });
  await view.locator("dialog[open] .sent").waitFor();
  await view.keyboard.press("Escape");
  await column("next").locator(".card", { hasText: "Sketch the landing page" }).waitFor();
  await card(view, "Sketch the landing page").dragTo(column("done"), { sourcePosition: { x: 20, y: 60 } });
  await view.locator("dialog[open]", { hasText: "This cannot be moved to “Done”." }).waitFor();
  await view.keyboard.press("Escape");
  await view.getByRole("searchbox").fill("");
  await view.getByLabel("Mission").selectOption({ label: "Build the tea shop" });
  await view.waitForFunction(() => [...document.querySelectorAll(".card")].every((card) => /of|the steps/.test(card.textContent)));
  check(/\/backlog\?mission=\w+$/.test(view.url()), view.url());
  await view.screenshot({ path: `${shots}/board-mission.png` });
  await view.context().close();
});

for (const javaScriptEnabled of [true, false]) {
  await step(`${javaScriptEnabled ? "with" : "without"} scripts an item is added, corrected, edited and cancelled`, async () => {
    const view = await open({ javaScriptEnabled });
    await view.getByRole("link", { name: "Add an item" }).click();
    const what = `Water the plants ${javaScriptEnabled ? "inside" : "on the roof"}`;
    await view.getByLabel("What is to be done").fill(what);
    await view.locator("textarea[name=how]").fill("Slowly.");
    await view.getByLabel("Due").fill("when pigs fly");
    await view.getByRole("button", { name: "Add" }).click();
    await view.getByRole("alert").filter({ hasText: "due date" }).waitFor();
    check((await view.locator("textarea[name=how]").inputValue()) === "Slowly.", "what was typed is still there");
    await view.getByLabel("Due").fill("friday");
    await view.getByRole("button", { name: "Add" }).dblclick();
    await view.locator(".sent", { hasText: "You added" }).waitFor();
    await view.reload();
    check((await view.locator("h1").textContent()) === what, "the item is shown");
    if (javaScriptEnabled) {
      const small = await view.evaluate(findSmallTargets, CONTROLS);
      check(small.length === 0, `too small for a finger: ${small.slice(0, 5).join("; ")}`);
    }
    await view.locator("summary", { hasText: "Edit" }).click();
    await view.locator("textarea[name=why]").fill("They are dry.");
    await view.getByRole("button", { name: "Save" }).click();
    await view.locator(".sent", { hasText: "You changed an item" }).waitFor();
    check((await view.locator(".history").textContent()).includes("the operator (kanban page)"), "the history says who");
    await view.getByRole("button", { name: "Cancel the item" }).click();
    await view.locator(".sent", { hasText: "You cancelled" }).waitFor();
    await view.getByRole("link", { name: "All items" }).click();
    await view.waitForLoadState();
    check((await view.locator(".card", { hasText: what }).count()) === 1, "it was added once");
    await view.context().close();
  });
}

for (const [device, size] of [
  ["desktop", { width: 1280, height: 800 }],
  ["phone", { width: 400, height: 844, hasTouch: true, isMobile: true }],
]) {
  for (const colorScheme of ["light", "dark"]) {
    await step(`${device}, ${colorScheme}: the graph of a mission can be read, and scrolls by itself`, async () => {
      const view = await open({ ...size, colorScheme });
      await view.locator(".card .graph-link").first().click();
      await view.locator("#live.on").waitFor();
      check((await view.locator(".step").count()) === 25, "every step has a box");
      await view.screenshot({ path: `${shots}/mission-${device}-${colorScheme}.png` });
      const wide = await view.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `the page is ${wide} px too wide`);
      const graph = view.locator("#graph");
      check(await graph.evaluate((graph) => graph.scrollWidth > graph.clientWidth), "the graph scrolls");
      const cut = await view.evaluate(() =>
        [...document.querySelectorAll(".step")].filter((step) => step.scrollHeight > step.clientHeight + 1).map((step) => step.textContent.trim()),
      );
      check(cut.length === 0, `does not fit into its box: ${cut[0]}`);
      const weak = await view.evaluate(findWeakContrast);
      check(weak.length === 0, `too little contrast: ${weak.slice(0, 5).join("; ")}`);
      const small = await view.evaluate(findSmallTargets, CONTROLS);
      check(small.length === 0, `too small for a finger: ${small.slice(0, 5).join("; ")}`);
      await view.context().close();
    });
  }
}

await step("the graph of a mission follows a change where it was scrolled to", async () => {
  const view = await open();
  await view.locator(".card .graph-link").first().click();
  await view.locator("#live.on").waitFor();
  await view.locator("#graph").evaluate((graph) => (graph.scrollLeft = 300));
  await view.locator(".step", { hasText: "Join all pieces" }).evaluate((step) => step.focus({ preventScroll: true }));
  await view.evaluate(() => (globalThis.sameDocument = true));
  const mark = await view.locator("#mission").getAttribute("data-mark");
  const cancel = await open({ javaScriptEnabled: false });
  await cancel.goto(await view.locator(".step", { hasText: "Join all pieces" }).evaluate((step) => step.href));
  await cancel.getByRole("button", { name: "Cancel the item" }).click();
  await view.locator(".step.cancelled", { hasText: "Join all pieces" }).waitFor();
  check((await view.locator("#mission").getAttribute("data-mark")) !== mark, "the page knows which state it shows");
  check(await view.evaluate(() => sameDocument), "the document is the same");
  check((await view.locator("#graph").evaluate((graph) => graph.scrollLeft)) === 300, "it is scrolled as before");
  check(await view.evaluate(() => document.activeElement.textContent.includes("Join all pieces")), "the focus is on the same step");
  await cancel.context().close();
  await view.context().close();
});

await step("without scripts the board is there, filters and opens", async () => {
  const view = await open({ javaScriptEnabled: false });
  await view.getByRole("searchbox").fill("checkout");
  await view.getByRole("button", { name: "Filter" }).click();
  await view.waitForLoadState();
  check((await view.locator(".card").count()) === 1, "one card is left");
  await card(view, "Profile the checkout").locator(".what").click();
  check((await view.locator("h1").textContent()) === "Profile the checkout", "the item has a page of its own");
  await view.getByRole("link", { name: "All items" }).click();
  await view.waitForLoadState();
  check((await view.locator(".card").count()) > 1, "all are shown");
  await view.context().close();
});

await step("a guarded board asks for the token, refuses another and takes its own", async () => {
  // The console reports the refused page as an error. The refusal is intended.
  const view = await open({ at: guarded, mayComplain: true });
  check((await view.locator(".card").count()) === 0, "nothing is shown");
  await view.getByLabel("Token").fill("wrong-horse-battery");
  await view.keyboard.press("Enter");
  await view.getByRole("alert").waitFor();
  await view.screenshot({ path: `${shots}/board-sign-in.png` });
  await view.getByLabel("Token").fill(token);
  await view.getByRole("button", { name: "Sign in" }).click();
  await view.locator("#live.on").waitFor();
  check(new URL(view.url()).pathname === "/backlog", view.url());
  check((await view.evaluate(() => document.cookie)) === "", "scripts do not see the cookie");
  await view.context().close();
});

await browser.close();
for (const complaint of complaints) console.log(`COMPLAINT ${complaint}`);
console.log(complaints.length ? `failed: ${complaints.length} complaints in ${steps} steps` : `ok: ${steps} steps`);
process.exit(complaints.length ? 1 : 0);
