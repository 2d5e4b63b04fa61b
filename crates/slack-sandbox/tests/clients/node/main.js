// A small bot on @slack/web-api and @slack/socket-mode. It prints `ready` when it is connected and `ok` when it was told goodbye.
//
// It hears a message with a file, answers in its thread with a file, edits, reacts and streams. It serves a command with a
// modal, a button and a home tab.

import { LogLevel, SocketModeClient } from '@slack/socket-mode';
import { WebClient } from '@slack/web-api';

const { SANDBOX_API, SANDBOX_TOKEN, SANDBOX_APP_TOKEN } = process.env;
const web = new WebClient(SANDBOX_TOKEN, { slackApiUrl: SANDBOX_API, logLevel: LogLevel.ERROR });
const client = new SocketModeClient({
  appToken: SANDBOX_APP_TOKEN,
  clientOptions: { slackApiUrl: SANDBOX_API },
  logLevel: LogLevel.ERROR,
});
const me = await web.auth.test();
const text = (value) => ({ type: 'plain_text', text: value });

function modal() {
  const element = { type: 'plain_text_input', action_id: 'name' };
  const block = { type: 'input', block_id: 'name_block', label: text('Name'), element };
  return { type: 'modal', callback_id: 'form', title: text('Form'), submit: text('Save'), blocks: [block] };
}

async function heard({ channel, ts, text: said, user, files }) {
  if (said.includes('again')) {
    await web.reactions.add({ channel, timestamp: ts, name: 'eyes' });
    return;
  }
  if (said.includes('bye')) {
    await client.disconnect();
    console.log('ok');
    process.exit(0);
  }
  const headers = { Authorization: `Bearer ${SANDBOX_TOKEN}` };
  const content = await (await fetch(files[0].url_private_download, { headers })).text();
  const reply = await web.chat.postMessage({ channel, thread_ts: ts, text: 'first' });
  await web.chat.update({ channel, ts: reply.ts, text: `heard: ${content}` });
  await web.reactions.add({ channel, timestamp: ts, name: 'thumbsup' });
  await web.filesUploadV2({ channel_id: channel, thread_ts: ts, filename: 'echo.txt', content, title: 'Echo' });
  const stream = web.chatStream({ channel, thread_ts: ts, recipient_team_id: me.team_id, recipient_user_id: user });
  await stream.append({ markdown_text: '**strea' });
  await stream.append({ markdown_text: 'med**' });
  await stream.stop();
  const names = [];
  for await (const page of web.paginate('users.list', { limit: 1 })) names.push(...page.members.map((member) => member.name));
  const button = { type: 'button', action_id: 'go', text: text('Go'), value: '42' };
  const blocks = [{ type: 'actions', elements: [button] }];
  await web.chat.postMessage({ channel, text: `people: ${names.sort().join(',')}`, blocks, username: 'Echo' });
}

client.on('message', async ({ ack, event }) => {
  await ack();
  if (event.user && !event.bot_id) await heard(event);
});
client.on('app_home_opened', async ({ ack, event }) => {
  await ack();
  await web.views.publish({ user_id: event.user, view: { type: 'home', blocks: [{ type: 'section', text: text('Home') }] } });
});
client.on('slash_commands', async ({ ack, body }) => {
  await ack({ text: `pong: ${body.text}` });
  await web.views.open({ trigger_id: body.trigger_id, view: modal() });
});
client.on('interactive', async ({ ack, body }) => {
  await ack();
  if (body.type === 'view_submission') {
    const name = body.view.state.values.name_block.name.value;
    await web.chat.postMessage({ channel: body.user.id, text: `saved: ${name}` });
  } else {
    const answer = { text: `pressed: ${body.actions[0].value}`, replace_original: true };
    await fetch(body.response_url, { method: 'POST', body: JSON.stringify(answer) });
  }
});
process.on('unhandledRejection', (error) => {
  console.error(error);
  process.exit(1);
});

await client.start();
console.log('ready');
