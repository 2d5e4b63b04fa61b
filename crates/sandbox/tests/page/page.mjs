// Drives the sandbox's chat page in headless Chromium, as a person would.
//
//     node page.mjs PAGE_URL SCREENSHOT_DIR
//
// Prints one line per step and ends with a status other than 0 when one failed.

import { startBot } from "./bot.mjs";
import { check, drive } from "./drive.mjs";
import { findSmallTargets, findWeakContrast } from "./looks.mjs";

const [url, shots] = process.argv.slice(2);
const MANY = 1000;
const CONTROLS = ".icon, .channel, .person, .control, .jump, .composer textarea";

const info = await (await fetch(new URL("/sandbox/info", url))).json();
const [me, other] = info.people;
const bot = await startBot({ ...info.bots[0], api: info.api, gateway: info.gateway, guild: info.guild });
const { open, step, finish, complaints } = await drive(url, shots);

const asPerson = async (person, method, path, body) => {
  const headers = { Authorization: person.token, "Content-Type": "application/json" };
  const response = await fetch(`${info.api}/api/v10${path}`, { method, headers, body: JSON.stringify(body) });
  check(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
  return response.status === 204 ? null : response.json();
};

const page = await open();
const composer = page.locator("#main .composer textarea");
const message = (text, scope = "#main") =>
  page.locator(`${scope} article.message:not(.pending)`, { has: page.locator(".prose", { hasText: text }) }).last();
const say = async (text) => {
  await composer.fill(text);
  await composer.press("Enter");
};
const act = async (text, action) => {
  await message(text).hover();
  await page.getByRole("toolbar").getByRole("button", { name: action }).click();
};

await step("an empty channel suggests what to try", async () => {
  await page.getByRole("button", { name: "kelly, who is on the team?" }).click();
  check((await composer.inputValue()) === "kelly, who is on the team?", "the suggestion fills the composer");
  await page.screenshot({ path: `${shots}/empty.png` });
});

await step("a message is sent and shown under its author", async () => {
  await composer.press("Enter");
  await message("kelly, who is on the team?").locator(".name", { hasText: me.name }).waitFor();
  check((await composer.inputValue()) === "", "the composer is empty again");
  check((await page.locator("article.pending").count()) === 0, "nothing stays pending");
});

await step("Markdown is shown as Discord shows it, and never as markup", async () => {
  await say(
    "**bold** *soft* __under__ ~~gone~~ `code` ||hidden|| <img src=x onerror=alert(1)>\n# Head\n- one\n- two\n> quoted\n```rust\nfn main() {}\n```\n[masked](https://example.org/a) https://example.org/b. <t:1700000000:D>",
  );
  const shown = message("bold");
  for (const [selector, text] of [
    ["strong", "bold"],
    ["em", "soft"],
    ["u", "under"],
    ["s", "gone"],
    ["p code", "code"],
    [".spoiler", "hidden"],
    ["h3", "Head"],
    ["li >> nth=1", "two"],
    ["blockquote", "quoted"],
    ["pre code", "fn main() {}"],
    [".language", "rust"],
    ["a[href='https://example.org/a']", "masked"],
    ["a[href='https://example.org/b']", "https://example.org/b"],
    [".prose time[title]", "2023"],
  ]) {
    await shown.locator(selector, { hasText: text }).first().waitFor();
  }
  check((await shown.locator("img").count()) === 0, "text stays text");
  check((await shown.innerText()).includes("<img src=x"), "angle brackets are shown");
  const spoiler = shown.locator(".spoiler");
  await spoiler.click();
  check(await spoiler.evaluate((node) => node.classList.contains("shown")), "a spoiler opens");
});

await step("hostile Markdown costs no time", async () => {
  const slowest = await page.evaluate(async () => {
    const { parse } = await import("/page/js/text/markdown.js");
    const hostile = [
      "*",
      "_a",
      "[",
      "> ",
      "||",
      "***a ",
      "```",
      "`",
      "**a",
      "~~",
      "<",
      "__",
      "- ",
      " - a\n",
      "[a](",
      "https://((",
      "<t:",
      "\\",
    ].map((piece) => piece.repeat(Math.floor(4000 / piece.length)));
    return Math.max(
      ...hostile.map((text) => {
        const began = performance.now();
        parse(text);
        return performance.now() - began;
      }),
    );
  });
  check(slowest < 1000, `the slowest took ${Math.round(slowest)} ms`);
  console.log(`   slowest of the hostile texts: ${Math.round(slowest)} ms`);
});

await step("an answer comes with a typing line and a reply bar that leads to the original", async () => {
  await say("ping");
  await page.locator("#main .typing", { hasText: "is typing…" }).waitFor();
  const pong = message("pong");
  await pong.locator(".tag", { hasText: "BOT" }).waitFor();
  await pong.locator(".reply-bar").click();
  await page.locator("article.found", { hasText: "ping" }).waitFor();
});

await step("a reply quotes what it answers", async () => {
  await act("pong", "Reply");
  await page.locator(".replying", { hasText: "Replying to" }).waitFor();
  await say("thank you");
  await message("thank you").locator(".reply-bar", { hasText: "pong" }).waitFor();
});

await step("reactions are added and taken back", async () => {
  await act("pong", "React");
  await page.getByRole("button", { name: "👍" }).click();
  const chip = message("pong").locator(".reaction");
  await page.waitForFunction(() => document.querySelector(".reaction")?.getAttribute("aria-pressed") === "true");
  await chip.click();
  await chip.waitFor({ state: "detached" });
});

await step("own messages are edited in place, and only own ones", async () => {
  await act("thank you", "Edit");
  const editor = page.getByRole("textbox", { name: "Edit message" });
  await editor.fill("thank you **very** much");
  await editor.press("Enter");
  await message("thank you very much").locator(".edited").waitFor();
  await message("pong").hover();
  check(
    (await page.getByRole("toolbar").getByRole("button", { name: "Edit" }).count()) === 0,
    "others' messages cannot be edited",
  );
});

await step("a message is deleted after a question", async () => {
  await say("a mistake");
  await message("a mistake").waitFor();
  await act("a mistake", "Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await message("a mistake").waitFor({ state: "detached" });
});

const drop = (files) =>
  page.evaluate((given) => {
    const transfer = new DataTransfer();
    for (const { name, type, text, size } of given)
      transfer.items.add(new File([text ?? new Uint8Array(size)], name, { type }));
    const target = document.querySelector("#main .conversation");
    for (const event of ["dragover", "drop"])
      target.dispatchEvent(new DragEvent(event, { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, files);

await step("files are dropped, previewed and downloadable", async () => {
  const text = Array.from({ length: 30 }, (_, line) => `line ${line + 1}`).join("\n");
  await drop([
    { name: "notes.md", type: "text/markdown", text },
    { name: "data.bin", type: "application/octet-stream", size: 2048 },
  ]);
  await page.locator(".tray li", { hasText: "notes.md" }).waitFor();
  await say("look at these");
  const sent = message("look at these");
  await sent.locator("pre", { hasText: "line 8" }).waitFor();
  check(!(await sent.locator("pre").innerText()).includes("line 9"), "the preview is short");
  await sent.getByRole("button", { name: "Show all" }).click();
  await sent.locator("pre", { hasText: "line 30" }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    sent.getByRole("link", { name: "Download data.bin" }).click(),
  ]);
  check(download.suggestedFilename() === "data.bin", "the file keeps its name");
});

await step("a file that is too large is refused at once, and the text stays", async () => {
  await composer.fill("with a huge file");
  await drop([{ name: "huge.bin", type: "application/octet-stream", size: 11 * 1024 * 1024 }]);
  await page.locator("#main .composer .problem", { hasText: "huge.bin is 11.0 MB" }).waitFor();
  check((await composer.inputValue()) === "with a huge file", "the text stays");
  await composer.fill("");
});

await step("a message that is too long is not sent", async () => {
  await composer.fill("x".repeat(2005));
  await page.locator(".left.over", { hasText: "-5" }).waitFor();
  await composer.press("Enter");
  await page.locator("#main .composer .problem", { hasText: "5 characters too long" }).waitFor();
  await composer.fill("");
});

await step("a failed send stays with a retry that works", async () => {
  await page.route("**/api/v10/channels/*/messages", (route) =>
    route.request().method() === "POST" ? route.abort() : route.continue(),
  );
  await say("into the void");
  const failed = page.locator("article.failed", { hasText: "into the void" });
  await failed.locator(".problem", { hasText: "Not sent" }).waitFor();
  await page.unroute("**/api/v10/channels/*/messages");
  await failed.getByRole("button", { name: "Retry" }).click();
  await page.locator("article.message:not(.failed):not(.pending)", { hasText: "into the void" }).waitFor();
  // Chromium reports the request that this step itself broke off.
  for (let at = complaints.length - 1; at >= 0; at -= 1)
    if (complaints[at].includes("net::ERR_FAILED")) complaints.splice(at, 1);
});

await step("a slash command is completed, filled in and answered after a deferral", async () => {
  await composer.pressSequentially("/as");
  await page.getByRole("option", { name: "/ask" }).waitFor();
  await page.screenshot({ path: `${shots}/slash.png` });
  await composer.press("Enter");
  const form = page.locator("form.command-form");
  await form.getByRole("button", { name: "Run" }).click();
  await form.locator(".problem", { hasText: "“persona” is needed" }).waitFor();
  await form.locator("[name=persona]").pressSequentially("vi");
  await form.getByRole("option", { name: "Vince" }).waitFor();
  await page.keyboard.press("Enter");
  await form.locator("[name=lines]").fill("12");
  await form.locator("[name=question]").fill("what about costs?");
  await form.locator("[name=question]").press("Enter");
  await form.locator(".problem", { hasText: "lines" }).waitFor();
  await form.locator("[name=lines]").fill("3");
  await form.locator("[name=lines]").press("Enter");
  await page.locator("#main .thinking").waitFor();
  await message("vince was asked: what about costs?").locator(".reply-bar", { hasText: "You used /ask" }).waitFor();
});

await step("a select answers only the one who chose", async () => {
  await page.getByRole("combobox", { name: "Pick a tier" }).selectOption("t2");
  const answer = page.locator("article.ephemeral", { hasText: "You picked t2." });
  await answer.getByText("Only you can see this").waitFor();
  await answer.getByRole("button", { name: "Dismiss" }).click();
  await answer.waitFor({ state: "detached" });
});

await step("a button opens a modal, which is checked and sent", async () => {
  await page.getByRole("button", { name: "Say why" }).click();
  const modal = page.getByRole("dialog", { name: "Why?" });
  await modal.getByRole("button", { name: "Submit" }).click();
  check(await modal.isVisible(), "a required field holds the modal open");
  await page.screenshot({ path: `${shots}/modal.png` });
  await modal.getByLabel("Reason").fill("it is cheap");
  await modal.getByRole("button", { name: "Submit" }).click();
  await page.locator("article.ephemeral", { hasText: "Because: it is cheap" }).waitFor();
});

await step("a button changes its message", async () => {
  await page.getByRole("button", { name: "Approve" }).click();
  await message("Approved.").waitFor();
  check((await page.getByRole("button", { name: "Approve" }).count()) === 0, "the buttons are removed");
});

await step("a command takes a file", async () => {
  await composer.pressSequentially("/read ");
  const form = page.locator("form.command-form");
  await form
    .locator("[name=file]")
    .setInputFiles({ name: "plan.txt", mimeType: "text/plain", buffer: Buffer.from("go on") });
  await form.getByRole("button", { name: "Run" }).click();
  await message("plan.txt says: go on").waitFor();
});

await step("a command without an answer shows an error", async () => {
  await composer.pressSequentially("/silent ");
  const form = page.locator("form.command-form");
  await form.getByRole("button", { name: "Run" }).click();
  await form.locator(".problem", { hasText: "did not answer in time" }).waitFor();
  await page.keyboard.press("Escape");
  await composer.waitFor();
});

const embed = page.locator("#main .embed").last();

await step("embeds show title, fields, footer and a picture, and that they were edited", async () => {
  await say("report");
  for (const text of ["Day Report", "$1.20", "Wait one more day.", "standup"]) await embed.getByText(text).waitFor();
  const report = page.locator("#main article", { has: page.locator(".embed") }).last();
  // Waits for the edit first, because it renders the message again.
  await report.locator(".edited").waitFor();
  const picture = embed.getByRole("img", { name: "Day Report: odds.png" });
  await picture.scrollIntoViewIfNeeded();
  await page.waitForFunction((image) => image.complete && image.naturalWidth === 560, await picture.elementHandle());
  check((await report.locator(".picture").count()) === 1, "the picture is inside the embed only");
});

await step("a button is pressed by keyboard, answers the presser alone, and goes when the question is decided", async () => {
  const useful = page.getByRole("button", { name: "Useful", exact: true });
  await useful.focus();
  await page.keyboard.press("Enter");
  await page.locator("article.ephemeral", { hasText: "Noted: rate:up." }).getByText("Only you can see this").waitFor();
  await useful.waitFor();
  await page.screenshot({ path: `${shots}/report.png` });
  await page.getByRole("button", { name: "Enough votes" }).click();
  await useful.waitFor({ state: "detached" });
  await embed.waitFor();
});

await step("a thread that the team opened shows its name and size, and opens", async () => {
  const link = page.locator("#main .thread-link", { hasText: "Day Report in full" });
  await link.getByText("2 messages").waitFor();
  await link.focus();
  await page.keyboard.press("Enter");
  await message("Vince: costs are flat.", "#side").waitFor();
  await message("Oracle: 62 %.", "#side").waitFor();
  check((await page.locator("#side .embed").count()) === 1, "the thread begins with its message");
  await page.screenshot({ path: `${shots}/report-thread.png` });
  await page.keyboard.press("Escape");
  await page.locator("#side .conversation").waitFor({ state: "detached" });
});

await step("a thread is started, used and closed", async () => {
  await act("pong", "Thread");
  const dialog = page.getByRole("dialog", { name: "Start a thread" });
  await dialog.getByLabel("Name").fill("About pong");
  await dialog.getByRole("button", { name: "Start thread" }).click();
  const side = page.locator("#side .composer textarea");
  await side.fill("inside the thread");
  await side.press("Enter");
  await message("inside the thread", "#side").waitFor();
  await page.locator("[data-channel]", { hasText: "About pong" }).waitFor();
  await message("pong").locator(".thread-link", { hasText: "About pong" }).waitFor();
  await page.screenshot({ path: `${shots}/thread.png` });
  await page.keyboard.press("Escape");
  await page.locator("#side .conversation").waitFor({ state: "detached" });
});

await step("unread channels and mentions are marked, kept, and read by opening", async () => {
  await asPerson(other, "POST", `/channels/${info.channels.ops}/messages`, { content: `look, <@${me.id}>` });
  const ops = page.locator(`[data-channel="${info.channels.ops}"]`);
  await ops.locator(".badge", { hasText: "1" }).waitFor();
  check(/^\(1\)/.test(await page.title()), "the title counts mentions");
  await page.reload();
  await ops.locator(".badge", { hasText: "1" }).waitFor();
  await ops.click();
  await page.locator("article.addressed", { hasText: "look," }).waitFor();
  await ops.locator(".badge").waitFor({ state: "detached" });
});

await step("a line marks what is new, until Escape", async () => {
  await page.locator(`[data-channel="${info.channels.general}"]`).click();
  await page.locator("#main h2", { hasText: "general" }).waitFor();
  await asPerson(other, "POST", `/channels/${info.channels.ops}/messages`, { content: "news" });
  await page.locator(`[data-channel="${info.channels.ops}"].unread`).click();
  await page.locator("#main .separator.new").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#main .separator.new").waitFor({ state: "detached" });
});

await step("members show presence and activity, and open a direct conversation", async () => {
  const person = page.locator("#people .person.online", { hasText: "reading along" });
  const name = await person.locator(".name").innerText();
  await person.click();
  await page.getByRole("dialog").getByRole("button", { name: "Message" }).click();
  await page.locator("#main h2", { hasText: name }).waitFor();
  await say("ping");
  await message("pong").waitFor();
  check(
    (await page.locator("#sidebar h2", { hasText: "Direct messages" }).count()) === 1,
    "the conversation is listed",
  );
});

await step("a closed connection is resumed, and nothing is missed or shown twice", async () => {
  await page.locator(`[data-channel="${info.channels.general}"]`).click();
  await page.locator("#main h2", { hasText: "general" }).waitFor();
  const dials = await page.evaluate(() => {
    sockets.at(-1).close(4000);
    return sockets.length;
  });
  await asPerson(other, "POST", `/channels/${info.channels.general}/messages`, { content: "sent while offline" });
  await page.waitForFunction(
    (before) => sockets.length > before && sockets.at(-1).readyState === WebSocket.OPEN,
    dials,
  );
  await message("sent while offline").waitFor();
  await say("still here");
  await message("still here").waitFor();
  for (const text of ["sent while offline", "still here"])
    check((await page.locator("#main article", { hasText: text }).count()) === 1, `“${text}” is shown once`);
});

await step("everything works by keyboard alone", async () => {
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go to" }).getByRole("option").first().waitFor();
  await page.keyboard.type("daily");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#main h2").textContent === "daily-standup");
  await page.keyboard.type("first words");
  await page.keyboard.press("Enter");
  await message("first words").waitFor();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("End");
  await page.keyboard.type("!");
  await page.keyboard.press("Enter");
  await message("first words!").locator(".edited").waitFor();
  await page.locator("#main .scroller").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("r");
  await page.keyboard.type("an answer");
  await page.keyboard.press("Enter");
  await message("an answer").locator(".reply-bar").waitFor();
  await page.keyboard.press("Alt+ArrowUp");
  await page.waitForFunction(() => document.querySelector("#main h2").textContent === "general");
  await page.locator("#main .scroller").focus();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  check(await composer.evaluate((node) => node === document.activeElement), "Escape leads back to the composer");
});

await step(`a history of ${MANY} messages keeps the document small`, async () => {
  const path = `/channels/${info.channels.knowledge}/messages`;
  for (let sent = 0; sent < MANY; sent += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => asPerson(other, "POST", path, { content: `note ${sent + at}` })),
    );
  await page.locator(`[data-channel="${info.channels.knowledge}"]`).click();
  // Until then the articles are those of the channel before.
  await page.locator("#main article", { hasText: "note " }).first().waitFor();
  const began = Date.now();
  while ((await page.locator("#main .intro").count()) === 0) {
    check(Date.now() - began < 60_000, "the beginning is reached by scrolling");
    await page.evaluate(() => document.querySelector("#main .scroller").scrollTo(0, 0));
    await page.waitForTimeout(30);
    const drawn = await page.locator("#main article").count();
    check(drawn <= 260, `only a window is in the document, not ${drawn}`);
  }
  console.log(`   from the end to the beginning of ${MANY} messages in ${Date.now() - began} ms`);
  await page.locator("#main .to-end").click();
  await page.waitForFunction(() => {
    const { scrollTop, scrollHeight, clientHeight } = document.querySelector("#main .scroller");
    return scrollHeight - scrollTop - clientHeight < 2;
  });
});

await step("Ctrl F finds a message that is not loaded, and leads to it", async () => {
  await page.reload();
  await page.locator("#main article", { hasText: "note " }).first().waitFor();
  await page.keyboard.press("Control+f");
  const dialog = page.getByRole("dialog", { name: "Search messages" });
  await dialog.getByLabel("Search messages").fill("NOTE 17");
  await dialog.getByText("20 messages").waitFor();
  await page.screenshot({ path: `${shots}/search.png` });
  await dialog.getByRole("option").last().click();
  await page.locator("#main article.found", { hasText: /note 17$/ }).waitFor();
  check(page.url().includes(`#${info.channels.knowledge}//`), page.url());
  await page.keyboard.press("Control+f");
  await dialog.getByLabel("Search messages").fill("inside thread");
  await dialog.getByText("1 message").waitFor();
  await page.keyboard.press("Enter");
  await page.locator("#side article.found", { hasText: "inside the thread" }).waitFor();
  const linked = await open({ hash: new URL(page.url()).hash });
  await linked.locator("#side article", { hasText: "inside the thread" }).waitFor();
  await linked.context().close();
  await page.keyboard.press("Control+f");
  await dialog.getByLabel("Search messages").fill("surely not");
  await dialog.getByText("No message has all of these words.").waitFor();
  await page.keyboard.press("Escape");
});

await step("each tab is a person of its own, also after a reload", async () => {
  const tab = await page.context().newPage();
  await tab.goto(url);
  await tab.getByLabel("Your account").selectOption({ label: other.name });
  await tab.waitForFunction((name) => document.querySelector(".account select")?.selectedOptions[0]?.label === name, other.name);
  await page.reload();
  await page.locator("body:not(.starting) .account").waitFor();
  const shown = (view) => view.getByLabel("Your account").evaluate((field) => field.selectedOptions[0].label);
  check((await shown(page)) === me.name, "the first tab is who it was");
  await tab.reload();
  await tab.locator("body:not(.starting) .account").waitFor();
  check((await shown(tab)) === other.name, "and so is the second one");
  await tab.close();
});

for (const [device, size] of [
  ["desktop", { width: 1280, height: 800 }],
  ["phone", { width: 390, height: 844, hasTouch: true }],
]) {
  for (const colorScheme of ["light", "dark"]) {
    await step(`${device}, ${colorScheme}: it can be read and nothing overflows`, async () => {
      const view = await open({ ...size, colorScheme, hash: `#${info.channels.general}` });
      await view.locator("#main article").first().waitFor();
      await view.waitForTimeout(300);
      await view.screenshot({ path: `${shots}/${device}-${colorScheme}.png` });
      await view.locator(".embed").last().scrollIntoViewIfNeeded();
      await view.waitForTimeout(200);
      await view.screenshot({ path: `${shots}/${device}-${colorScheme}-report.png` });
      const wide = await view.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `the page is ${wide} px too wide`);
      const weak = await view.evaluate(findWeakContrast);
      check(weak.length === 0, `too little contrast: ${weak.slice(0, 5).join("; ")}`);
      if (device === "phone") {
        await view.getByRole("button", { name: "Channels" }).click();
        await view.locator("#sidebar .channel").first().waitFor();
        await view.waitForTimeout(250);
        await view.screenshot({ path: `${shots}/${device}-${colorScheme}-drawer.png` });
        const small = await view.evaluate(findSmallTargets, CONTROLS);
        check(small.length === 0, `too small for a finger: ${small.slice(0, 5).join("; ")}`);
        await view.locator(`[data-channel="${info.channels.ops}"]`).click();
        await view.waitForFunction(() => document.querySelector("#main h2").textContent === "ops");
      }
      await view.context().close();
    });
  }
}

await step("the chosen theme outlives a reload", async () => {
  await page.getByRole("button", { name: "Light or dark" }).click();
  await page.reload();
  check((await page.evaluate(() => document.documentElement.dataset.theme)) === "dark", "it is dark now");
});

for (const failure of bot.failures) complaints.push(`the bot was refused: ${failure}`);
bot.stop();
await finish();
