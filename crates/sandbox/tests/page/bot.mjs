// A scripted bot: answers messages, a slash command with completion, buttons and a modal. It uses only fetch and a
// WebSocket.

import { crc32, deflateSync } from "node:zlib";
import WebSocket from "ws";

// Guild messages and their content, direct messages.
const INTENTS = (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15);
const EPHEMERAL = 64;
const PERSONAS = ["Kelly", "Vince", "Eliza"];

const COMMANDS = [
  {
    name: "ask",
    description: "Ask one persona",
    type: 1,
    options: [
      { type: 3, name: "persona", description: "Who answers", required: true, autocomplete: true },
      { type: 3, name: "question", description: "What you want to know", required: true },
      { type: 4, name: "lines", description: "How long the answer may be", min_value: 1, max_value: 9 },
    ],
  },
  {
    name: "read",
    description: "Read a file",
    type: 1,
    options: [{ type: 11, name: "file", description: "What to read", required: true }],
  },
  { name: "silent", description: "Never answers, to see what happens", type: 1 },
];

export async function startBot({ api, gateway, guild, token, id }) {
  const call = async (method, path, body) => {
    const headers = { Authorization: `Bot ${token}` };
    if (!(body instanceof FormData)) {
      headers["Content-Type"] = "application/json";
      body = body && JSON.stringify(body);
    }
    const response = await fetch(`${api}/api/v10${path}`, { method, headers, body });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? null : response.json();
  };
  const failures = [];
  const socket = new WebSocket(`${gateway}/?v=10&encoding=json`);
  await new Promise((resolve, reject) => {
    let sequence = null;
    socket.on("error", reject);
    socket.on("message", (text) => {
      const { op, d, s, t } = JSON.parse(text);
      sequence = s ?? sequence;
      if (op === 10) {
        setInterval(() => socket.send(JSON.stringify({ op: 1, d: sequence })), d.heartbeat_interval).unref();
        const properties = { os: "test", browser: "test", device: "test" };
        const presence = {
          since: null,
          afk: false,
          status: "online",
          activities: [{ name: "Custom Status", type: 4, state: "reading along" }],
        };
        socket.send(JSON.stringify({ op: 2, d: { token, intents: INTENTS, properties, presence } }));
      }
      if (t === "READY") resolve();
      answer(t, d, call, id).catch((error) => failures.push(error.message));
    });
  });
  await call("PUT", `/applications/${id}/guilds/${guild}/commands`, COMMANDS);
  return { call, failures, stop: () => socket.close(1000) };
}

async function answer(type, data, call, id) {
  if (type === "MESSAGE_CREATE" && !data.author.bot) await answerMessage(data, call);
  if (type === "INTERACTION_CREATE") await answerInteraction(data, call, id);
}

async function answerMessage(message, call) {
  const path = `/channels/${message.channel_id}`;
  if (message.content === "ping") {
    await call("POST", `${path}/typing`);
    await new Promise((resolve) => setTimeout(resolve, 700));
    await call("POST", `${path}/messages`, { content: "pong", message_reference: { message_id: message.id } });
  }
  if (message.content === "call me")
    await call("POST", `${path}/messages`, { content: `Here I am, <@${message.author.id}>.` });
  if (message.content === "report") await report(call, path);
}

/** A report that is edited to have an embed, a chart and buttons, and a thread on it. */
async function report(call, path) {
  const first = await call("POST", `${path}/messages`, { embeds: [REPORT] });
  await call("PATCH", `${path}/messages/${first.id}`, finishedReport());
  const thread = await call("POST", `${path}/messages/${first.id}/threads`, { name: "Day Report in full" });
  for (const content of ["Vince: costs are flat.", "Oracle: 62 %."])
    await call("POST", `/channels/${thread.id}/messages`, { content });
}

function finishedReport() {
  const fields = [...REPORT.fields, { name: "Call", value: "Wait one more day." }];
  const embed = { ...REPORT, fields, image: { url: "attachment://odds.png" } };
  const buttons = [
    { type: 2, style: 3, label: "Useful", custom_id: "rate:up" },
    { type: 2, style: 4, label: "Not useful", custom_id: "rate:down" },
    { type: 2, style: 2, label: "Enough votes", custom_id: "rate:end" },
  ];
  const form = new FormData();
  const attachments = [{ id: 0, filename: "odds.png", description: "Odds of the last week" }];
  const payload = { embeds: [embed], components: [{ type: 1, components: buttons }], attachments };
  form.append("payload_json", JSON.stringify(payload));
  form.append("files[0]", new Blob([drawBars([30, 46, 52, 41, 58, 62, 77])], { type: "image/png" }), "odds.png");
  return form;
}

/** A chart image, generated here so that no package is needed. */
function drawBars(heights) {
  const [width, height, bar] = [560, 200, 80];
  const chunk = (name, data) => {
    const named = Buffer.concat([Buffer.from(name), data]);
    const out = Buffer.alloc(8);
    out.writeUInt32BE(data.length);
    out.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([out.subarray(0, 4), named, out.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  // Eight bits of a palette of two colours.
  head.set([8, 3], 8);
  const rows = Array.from({ length: height }, (_, y) =>
    Buffer.from([0, ...Array.from({ length: width }, (_, x) => Number(x % bar > 16 && height - y < heights[Math.floor(x / bar)] * 2))]),
  );
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("PLTE", Buffer.from([0xf4, 0xf6, 0xf8, 0x2b, 0x8a, 0x9e])),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const REPORT = {
  title: "Day Report",
  description: "Costs are **flat**; the odds moved.",
  color: 0x2b8a9e,
  fields: [
    { name: "Vince", value: "$1.20", inline: true },
    { name: "Oracle", value: "62 %", inline: true },
  ],
  footer: { text: "standup" },
};

async function answerInteraction(interaction, call, id) {
  const callback = (type, data) =>
    call("POST", `/interactions/${interaction.id}/${interaction.token}/callback`, { type, data });
  const { name, options = [], custom_id: customId } = interaction.data;
  if (interaction.type === 4) {
    const typed = options.find((option) => option.focused)?.value ?? "";
    const fitting = PERSONAS.filter((persona) => persona.toLowerCase().startsWith(typed.toLowerCase()));
    return callback(8, { choices: fitting.map((persona) => ({ name: persona, value: persona.toLowerCase() })) });
  }
  if (interaction.type === 2 && name === "ask") {
    await callback(5, {});
    await new Promise((resolve) => setTimeout(resolve, 700));
    const value = (wanted) => options.find((option) => option.name === wanted)?.value;
    const buttons = [
      { type: 2, style: 1, label: "Approve", custom_id: "approve" },
      { type: 2, style: 2, label: "Say why", custom_id: "why" },
    ];
    const select = {
      type: 3,
      custom_id: "pick",
      placeholder: "Pick a tier",
      options: [
        { label: "Cheap", value: "t1" },
        { label: "Strong", value: "t2" },
      ],
    };
    const content = `${value("persona")} was asked: ${value("question")}`;
    return call("PATCH", `/webhooks/${id}/${interaction.token}/messages/@original`, {
      content,
      components: [
        { type: 1, components: buttons },
        { type: 1, components: [select] },
      ],
    });
  }
  if (interaction.type === 2 && name === "read") {
    const file = interaction.data.resolved.attachments[options[0].value];
    return callback(4, { content: `${file.filename} says: ${await (await fetch(file.url)).text()}` });
  }
  if (interaction.type === 3 && customId === "approve") return callback(7, { content: "Approved.", components: [] });
  if (interaction.type === 3 && customId.startsWith("rate:")) {
    await callback(6);
    const webhook = `/webhooks/${id}/${interaction.token}`;
    if (customId === "rate:end") return call("PATCH", `${webhook}/messages/@original`, { components: [] });
    return call("POST", webhook, { content: `Noted: ${customId}.`, flags: EPHEMERAL });
  }
  if (interaction.type === 3 && customId === "pick")
    return callback(4, { content: `You picked ${interaction.data.values[0]}.`, flags: EPHEMERAL });
  if (interaction.type === 3 && customId === "why") {
    const field = (fieldId, label, style, required) => ({
      type: 1,
      components: [{ type: 4, custom_id: fieldId, label, style, required }],
    });
    return callback(9, {
      custom_id: "reasons",
      title: "Why?",
      components: [field("reason", "Reason", 1, true), field("more", "Anything else", 2, false)],
    });
  }
  if (interaction.type === 5) {
    const reason = interaction.data.components[0].components[0].value;
    return callback(4, { content: `Because: ${reason}`, flags: EPHEMERAL });
  }
  return undefined;
}
