// An app of the local Slack, as far as the page needs one: it answers, shows what messages can have, and takes what people do.

import WebSocket from "ws";

const text = (text) => ({ type: "mrkdwn", text });
const plain = (text) => ({ type: "plain_text", text });
const option = (label, value) => ({ text: plain(label), value });
const CELL = (text) => ({ type: "raw_text", text });

/** Everything in one message, from a persona of the team. */
const SHOWN = {
  username: "Kelly",
  icon_emoji: ":large_blue_circle:",
  text: "A report",
  blocks: [
    { type: "header", text: plain("The week") },
    { type: "section", text: text("*Costs* went _down_ by ~30~ 20 %, see <https://example.org/report|the report>.\n> As said in `standup`\n```\nlet total = a < b;\n```") },
    { type: "section", fields: [text("*Open*\n3"), text("*Done*\n12")] },
    { type: "divider" },
    {
      type: "rich_text",
      elements: [
        {
          type: "rich_text_list",
          style: "bullet",
          elements: [
            { type: "rich_text_section", elements: [{ type: "text", text: "one", style: { bold: true } }] },
            { type: "rich_text_section", elements: [{ type: "text", text: "two" }] },
          ],
        },
      ],
    },
    { type: "table", rows: [[CELL("Who"), CELL("What")], [CELL("Vince"), CELL("Costs")]] },
    {
      type: "actions",
      elements: [
        { type: "button", action_id: "agree", text: plain("Agree"), style: "primary" },
        { type: "button", action_id: "why", text: plain("Say why") },
        { type: "static_select", action_id: "tier", placeholder: plain("Pick a tier"), options: [option("Small", "t1"), option("Large", "t2")] },
      ],
    },
    { type: "context", elements: [text("written without a model :white_check_mark:")] },
  ],
  attachments: [{ color: "#2b8a9e", blocks: [{ type: "section", text: text("*A card*\nwith a colour") }] }],
};

const MODAL = {
  type: "modal",
  callback_id: "why",
  title: plain("Why?"),
  submit: plain("Send"),
  blocks: [
    { type: "section", text: text("It is *short*.") },
    { type: "input", block_id: "reason", label: plain("Reason"), element: { type: "plain_text_input", action_id: "reason" } },
    {
      type: "input",
      block_id: "tier",
      optional: true,
      label: plain("Tier"),
      hint: plain("How important it is"),
      element: { type: "static_select", action_id: "tier", options: [{ text: plain("One"), value: "t1" }, { text: plain("Two"), value: "t2" }] },
    },
  ],
};

/** `app` has the tokens. `api` ends with `/api/`. */
export async function startBot({ app, api, channel }) {
  const failures = [];
  async function call(method, body, token = app.bot_token) {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json; charset=utf-8" };
    const answer = await (await fetch(`${api}${method}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
    if (!answer.ok) failures.push(`${method}: ${JSON.stringify(answer)}`);
    return answer;
  }
  const post = (body) => call("chat.postMessage", { username: "Kelly", icon_emoji: ":large_blue_circle:", ...body });

  async function upload(place, name, content) {
    const query = new URLSearchParams({ filename: name, length: Buffer.byteLength(content) });
    const headers = { Authorization: `Bearer ${app.bot_token}` };
    const { upload_url: url, file_id: id } = await (await fetch(`${api}files.getUploadURLExternal?${query}`, { headers })).json();
    await fetch(url, { method: "POST", body: content });
    const { files } = await call("files.completeUploadExternal", { files: [{ id }] });
    await post({ channel: place, text: `Here it is: <${files[0].permalink}|${name}>` });
  }

  async function hear({ type, text: said = "", channel: place, ts, thread_ts: thread, bot_id: bot, subtype, tab, user }) {
    if (type === "app_home_opened" && tab === "home") {
      const blocks = [{ type: "section", text: text("*Welcome home*") }, { type: "actions", elements: [{ type: "button", action_id: "refresh", text: plain("Refresh") }] }];
      await call("views.publish", { user_id: user, view: { type: "home", blocks } });
    }
    if (type !== "message" || bot || (subtype && subtype !== "file_share")) return;
    if (said === "ping") await post({ channel: place, text: "*pong*", thread_ts: thread });
    if (said === "show") await call("chat.postMessage", { channel: place, ...SHOWN });
    if (said === "file") await upload(place, "notes.md", "# Notes\nall is well");
    if (said === "correct") {
      const first = await post({ channel: place, text: "wrogn" });
      await call("chat.update", { channel: place, ts: first.ts, text: "right" });
    }
    if (said === "thread") await post({ channel: place, thread_ts: ts, text: "in the thread" });
  }

  async function act({ type, actions, trigger_id: trigger, response_url: response, view, user }) {
    const respond = (body) => fetch(response, { method: "POST", body: JSON.stringify(body) });
    if (type === "view_submission") {
      const { reason: { reason: { value: reason } }, tier } = view.state.values;
      if (reason.length < 5) return { response_action: "errors", errors: { reason: "is too short" } };
      await call("chat.postEphemeral", { channel, user: user.id, text: `Because: ${reason}, tier ${tier.tier.selected_option?.value ?? "none"}` });
      return undefined;
    }
    if (type === "message_action") await call("views.open", { trigger_id: trigger, view: MODAL });
    const [action] = actions ?? [];
    if (action?.action_id === "agree") await respond({ text: "You agreed.", replace_original: false });
    if (action?.action_id === "tier") await respond({ text: `You picked ${action.selected_option.value}.`, replace_original: false });
    if (action?.action_id === "why") await call("views.open", { trigger_id: trigger, view: MODAL });
    if (action?.action_id === "refresh") {
      await call("views.publish", { user_id: user.id, view: { type: "home", blocks: [{ type: "section", text: text("Refreshed") }] } });
    }
    return undefined;
  }

  const { url } = await call("apps.connections.open", {}, app.app_token);
  const socket = new WebSocket(url);
  socket.on("message", async (data) => {
    const { type, envelope_id: envelope, payload } = JSON.parse(data);
    if (!envelope) return;
    let answer;
    if (type === "slash_commands") answer = { text: `You asked for *${payload.text}*` };
    if (type === "interactive") answer = await act(payload);
    socket.send(JSON.stringify({ envelope_id: envelope, ...(answer ? { payload: answer } : {}) }));
    if (type === "events_api") await hear(payload.event);
  });
  await new Promise((resolve, reject) => {
    socket.on("message", (data) => JSON.parse(data).type === "hello" && resolve());
    socket.on("error", reject);
  });
  return { failures, post, stop: () => socket.terminate() };
}
