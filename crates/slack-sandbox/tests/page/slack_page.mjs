// Drives the chat page of the local Slack in headless Chromium, as a person would.
//
//     node slack_page.mjs PAGE_URL SCREENSHOT_DIR
//
// Prints one line per step and ends with a status other than 0 when one failed.

import { check, drive } from "./drive.mjs";
import { findSmallTargets, findWeakContrast } from "./looks.mjs";
import { startBot } from "./slack_bot.mjs";

const [url, shots] = process.argv.slice(2);
const CONTROLS = ".icon, .channel, .person, .control, .jump, .composer textarea";

const info = await (await fetch(new URL("/sandbox/info", url))).json();
const [me, other] = info.people;
const general = info.channels.general;
const bot = await startBot({ app: info.apps[0], api: info.api, channel: general });
const { open, step, finish, complaints } = await drive(url, shots);

const page = await open();
const composer = page.locator("#main .composer textarea");
const message = (text, scope = "#main") =>
  page.locator(`${scope} article.message:not(.pending)`, { has: page.locator(".body", { hasText: text }) }).last();
const say = async (text, field = composer) => {
  await field.fill(text);
  await field.press("Enter");
};
const act = async (text, action) => {
  await message(text).hover();
  await page.getByRole("toolbar").getByRole("button", { name: action }).click();
};

await step("a message is sent and shown with Slack's marks, and never as markup", async () => {
  await say("*bold* _soft_ ~gone~ `code` a & b <img src=x onerror=alert(1)> https://example.org/b. :tada:\n> quoted\n```\nfn main() {}\n```");
  const shown = message("bold");
  await shown.locator(".name", { hasText: me.name }).waitFor();
  for (const [selector, text] of [
    ["strong", "bold"],
    ["em", "soft"],
    ["s", "gone"],
    ["p code", "code"],
    ["blockquote", "quoted"],
    ["pre code", "fn main() {}"],
    ["a[href='https://example.org/b']", "https://example.org/b"],
    ["p", "a & b <img src=x"],
    ["p", "🎉"],
  ])
    await shown.locator(selector, { hasText: text }).first().waitFor();
  check((await shown.locator("img").count()) === 0, "text stays text");
  check((await page.locator("article.pending").count()) === 0, "nothing stays pending");
});

await step("hostile texts cost no time", async () => {
  const slowest = await page.evaluate(async () => {
    const { parse } = await import("/page/js/text/mrkdwn.js");
    const hostile = ["*", "_a", "*a ", "> ", "&gt;", "```", "`", "~", "<", "<@", "<!", ":a", "<https://a|", "https://((", "*a*b"].map((piece) =>
      piece.repeat(Math.floor(12_000 / piece.length)),
    );
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

await step("an answer comes under a persona's own name and sign", async () => {
  await say("ping");
  const pong = message("pong");
  await pong.locator("strong", { hasText: "pong" }).waitFor();
  await pong.locator(".name", { hasText: "Kelly" }).waitFor();
  await pong.locator(".tag", { hasText: "APP" }).waitFor();
  await pong.locator(".avatar[data-sign='🔵']").waitFor();
});

await step("blocks, a table and a card are shown", async () => {
  await say("show");
  const shown = message("The week");
  for (const [selector, text] of [
    ["h3", "The week"],
    ["strong", "Costs"],
    ["a[href='https://example.org/report']", "the report"],
    ["blockquote", "As said in standup"],
    ["pre code", "let total = a < b;"],
    [".field", "Open"],
    ["li strong", "one"],
    ["td", "Costs"],
    [".embed strong", "A card"],
    [".context", "✅"],
  ])
    await shown.locator(selector, { hasText: text }).first().waitFor();
});

await step("a button and a menu are answered to the one who used them", async () => {
  await page.getByRole("button", { name: "Agree" }).click();
  const answer = page.locator("article.ephemeral", { hasText: "You agreed." });
  await answer.getByText("Only you can see this").waitFor();
  await page.getByRole("combobox", { name: "Pick a tier" }).selectOption("t2");
  await page.locator("article.ephemeral", { hasText: "You picked t2." }).waitFor();
  await answer.getByRole("button", { name: "Dismiss" }).click();
  await answer.waitFor({ state: "detached" });
});

await step("a button opens a modal, whose errors are shown", async () => {
  await page.getByRole("button", { name: "Say why" }).click();
  const modal = page.getByRole("dialog", { name: "Why?" });
  await modal.locator("strong", { hasText: "short" }).waitFor();
  await modal.getByLabel("Reason").fill("no");
  await modal.getByRole("button", { name: "Send" }).click();
  await modal.locator(".problem", { hasText: "Reason: is too short" }).waitFor();
  await modal.getByLabel("Reason").fill("it is cheap");
  await modal.getByText("How important it is").waitFor();
  await modal.getByRole("button", { name: "Send" }).click();
  await page.locator("article.ephemeral", { hasText: "Because: it is cheap, tier none" }).waitFor();
  await modal.waitFor({ state: "detached" });
});

await step("the menu of a message offers what an app can do with it", async () => {
  await act("pong", "More");
  await page.getByRole("dialog", { name: "More" }).getByRole("button", { name: "Say why" }).click();
  const modal = page.getByRole("dialog", { name: "Why?" });
  await modal.getByLabel("Reason").fill("it was asked for");
  await modal.getByLabel("Tier").selectOption("t2");
  await modal.getByRole("button", { name: "Send" }).click();
  await page.locator("article.ephemeral", { hasText: "Because: it was asked for, tier t2" }).waitFor();
});

await step("a command is completed and answered", async () => {
  await composer.pressSequentially("/te");
  await page.getByRole("option", { name: "/team" }).waitFor();
  await composer.press("Enter");
  check((await composer.inputValue()) === "/team ", "the command is written");
  await composer.pressSequentially("status");
  await composer.press("Enter");
  await page.locator("article.ephemeral strong", { hasText: "status" }).waitFor();
  check((await composer.inputValue()) === "", "the composer is empty again");
});

await step("an unknown command is a message", async () => {
  await say("/shrug it");
  await message("/shrug it").waitFor();
});

await step("reactions are added and taken back", async () => {
  await act("pong", "React");
  await page.getByRole("button", { name: "👍" }).click();
  const chip = message("pong").locator(".reaction", { hasText: "👍" });
  await page.waitForFunction(() => document.querySelector(".reaction")?.getAttribute("aria-pressed") === "true");
  await chip.click();
  await chip.waitFor({ state: "detached" });
});

await step("own messages are edited and deleted, and only own ones", async () => {
  await say("a mistake & more");
  await message("a mistake & more").waitFor();
  await act("a mistake & more", "Edit");
  const editor = page.getByRole("textbox", { name: "Edit message" });
  check((await editor.inputValue()) === "a mistake & more", "the editor has what was written");
  await editor.fill("corrected");
  await editor.press("Enter");
  await message("corrected").locator(".edited").waitFor();
  await act("corrected", "Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await message("corrected").waitFor({ state: "detached" });
  await message("pong").hover();
  check((await page.getByRole("toolbar").getByRole("button", { name: "Edit" }).count()) === 0, "others' messages stay");
});

await step("what an app edits changes in place", async () => {
  await say("correct");
  await message("right").locator(".edited").waitFor();
  check((await page.locator("#main article", { hasText: "wrogn" }).count()) === 0, "the old text is gone");
});

await step("a file of an app is shown below its link, and one of a person is uploaded", async () => {
  await say("file");
  const sent = message("Here it is");
  await sent.locator("pre", { hasText: "all is well" }).waitFor();
  await sent.getByRole("link", { name: "Download notes.md" }).waitFor();
  check((await sent.locator(".prose a").first().getAttribute("href")).startsWith("/people/files/"), "the link leads to the local file");
  await page.evaluate(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["line 1\nline 2"], "mine.txt", { type: "text/plain" }));
    const target = document.querySelector("#main .conversation");
    for (const event of ["dragover", "drop"])
      target.dispatchEvent(new DragEvent(event, { dataTransfer: transfer, bubbles: true, cancelable: true }));
  });
  await say("look at this");
  await message("look at this").locator("pre", { hasText: "line 2" }).waitFor();
});

await step("a thread opens at the side, and its message counts the replies", async () => {
  await say("thread");
  await message("thread").locator(".thread-link", { hasText: "1 message" }).click();
  await message("in the thread", "#side").waitFor();
  await say("ping", page.locator("#side .composer textarea"));
  await message("pong", "#side").waitFor();
  await page.locator("#main .thread-link", { hasText: "3 messages" }).waitFor();
});

await step("a thread is started from a message", async () => {
  await say("something to discuss");
  await message("something to discuss").waitFor();
  await act("something to discuss", "Thread");
  await say("first reply", page.locator("#side .composer textarea"));
  await message("first reply", "#side").waitFor();
  await page.locator("#main .thread-link", { hasText: "1 message" }).last().waitFor();
});

await step("everything is there again after a reload, with the open thread", async () => {
  await page.reload();
  await page.waitForSelector("body:not(.starting) .composer textarea");
  await message("first reply", "#side").waitFor();
  await message("The week").locator(".embed strong", { hasText: "A card" }).waitFor();
  await page.getByRole("button", { name: "Close thread" }).click();
});

await step("a mention is completed, and marks the message of the one who is meant", async () => {
  const theirs = await open({ hash: `#${general}` });
  // Each tab has its own person.
  await theirs.evaluate((id) => sessionStorage.setItem("teamroom.person", JSON.stringify(id)), other.id);
  await theirs.reload();
  await theirs.waitForSelector("body:not(.starting) .composer textarea");
  await composer.pressSequentially(`@${other.name.slice(0, 2)}`);
  await page.locator(".completion").getByRole("option", { name: other.name }).waitFor();
  await composer.press("Enter");
  await composer.pressSequentially("look");
  await composer.press("Enter");
  await message(`@${other.name} look`).waitFor();
  await theirs.locator("article.addressed", { hasText: "look" }).waitFor();
  await say(`@${other.name.toLowerCase()} typed in full`);
  await theirs.locator("article.addressed", { hasText: "typed in full" }).waitFor();
  await theirs.context().close();
});

await step("a direct conversation with the app is opened from its card", async () => {
  await page.locator("#people .person", { hasText: "Teamroom" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Message" }).click();
  await say("ping");
  await message("pong").waitFor();
  await page.locator("#sidebar .channel", { hasText: "Teamroom" }).waitFor();
});

await step("the home tab of the app is shown and kept up to date", async () => {
  await page.locator("#people .person", { hasText: "Teamroom" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Home" }).click();
  const home = page.getByRole("dialog", { name: "Home of Teamroom" });
  await home.locator("strong", { hasText: "Welcome home" }).waitFor();
  await home.getByRole("button", { name: "Refresh" }).click();
  await home.getByText("Refreshed").waitFor();
  await home.getByRole("button", { name: "Close" }).click();
  await page.locator(`[data-channel="${general}"]`).click();
});

await step("a lost connection comes back, with what was said meanwhile", async () => {
  await page.evaluate(() => sockets.at(-1).close());
  await bot.post({ channel: general, text: "said meanwhile" });
  await message("said meanwhile").waitFor();
});

await step("an unreachable server is told, and the text can be sent again", async () => {
  await page.route("**/people/channels/*/messages", (route) => (route.request().method() === "POST" ? route.abort() : route.continue()));
  await say("into the void");
  const failed = page.locator("article.failed", { hasText: "into the void" });
  await failed.locator(".problem", { hasText: "Not sent" }).waitFor();
  await page.unroute("**/people/channels/*/messages");
  await failed.getByRole("button", { name: "Retry" }).click();
  await page.locator("article.message:not(.failed):not(.pending)", { hasText: "into the void" }).waitFor();
  // Chromium reports the request that this step itself broke off.
  for (let at = complaints.length - 1; at >= 0; at -= 1)
    if (complaints[at].includes("net::ERR_FAILED")) complaints.splice(at, 1);
});

for (const [device, size] of [
  ["desktop", { width: 1280, height: 800 }],
  ["phone", { width: 390, height: 844, hasTouch: true }],
]) {
  for (const colorScheme of ["light", "dark"]) {
    await step(`${device}, ${colorScheme}: it can be read and nothing overflows`, async () => {
      const view = await open({ ...size, colorScheme, hash: `#${general}` });
      await view.locator("#main article").first().waitFor();
      await view.waitForTimeout(300);
      await view.screenshot({ path: `${shots}/slack-${device}-${colorScheme}.png` });
      await view.locator(".embed").last().scrollIntoViewIfNeeded();
      await view.waitForTimeout(200);
      await view.screenshot({ path: `${shots}/slack-${device}-${colorScheme}-report.png` });
      const wide = await view.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `the page is ${wide} px too wide`);
      const weak = await view.evaluate(findWeakContrast);
      check(weak.length === 0, `too little contrast: ${weak.slice(0, 5).join("; ")}`);
      if (device === "phone") {
        await view.getByRole("button", { name: "Channels" }).click();
        await view.locator("#sidebar .channel").first().waitFor();
        await view.waitForTimeout(250);
        const small = await view.evaluate(findSmallTargets, CONTROLS);
        check(small.length === 0, `too small for a finger: ${small.slice(0, 5).join("; ")}`);
      }
      await view.context().close();
    });
  }
}

for (const failure of bot.failures) complaints.push(`the app was refused: ${failure}`);
bot.stop();
await finish();
