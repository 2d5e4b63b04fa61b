// A small app on @slack/bolt. It prints `ready` when it is connected and `ok` when it was told goodbye.
//
// It hears a message with a file, answers in its thread with a file, edits, reacts and streams. It serves a command with a
// modal, a button and a home tab.

import bolt from '@slack/bolt';

const { SANDBOX_API, SANDBOX_TOKEN, SANDBOX_APP_TOKEN } = process.env;
const app = new bolt.App({
  token: SANDBOX_TOKEN,
  appToken: SANDBOX_APP_TOKEN,
  socketMode: true,
  clientOptions: { slackApiUrl: SANDBOX_API },
  logLevel: bolt.LogLevel.ERROR,
});
const text = (value) => ({ type: 'plain_text', text: value });

function modal() {
  const element = { type: 'plain_text_input', action_id: 'name' };
  const block = { type: 'input', block_id: 'name_block', label: text('Name'), element };
  return { type: 'modal', callback_id: 'form', title: text('Form'), submit: text('Save'), blocks: [block] };
}

app.message('again', async ({ client, message }) => {
  await client.reactions.add({ channel: message.channel, timestamp: message.ts, name: 'eyes' });
});
app.message('bye', async () => {
  await app.stop();
  console.log('ok');
  process.exit(0);
});
app.message('hello', async ({ client, context, message, say }) => {
  const { channel, ts, user } = message;
  const headers = { Authorization: `Bearer ${SANDBOX_TOKEN}` };
  const content = await (await fetch(message.files[0].url_private_download, { headers })).text();
  const reply = await say({ thread_ts: ts, text: 'first' });
  await client.chat.update({ channel, ts: reply.ts, text: `heard: ${content}` });
  await client.reactions.add({ channel, timestamp: ts, name: 'thumbsup' });
  await client.filesUploadV2({ channel_id: channel, thread_ts: ts, filename: 'echo.txt', content, title: 'Echo' });
  const stream = client.chatStream({ channel, thread_ts: ts, recipient_team_id: context.teamId, recipient_user_id: user });
  await stream.append({ markdown_text: '**streamed**' });
  await stream.stop();
  const names = [];
  for await (const page of client.paginate('users.list', { limit: 1 })) names.push(...page.members.map((member) => member.name));
  const button = { type: 'button', action_id: 'go', text: text('Go'), value: '42' };
  const blocks = [{ type: 'actions', elements: [button] }];
  await say({ text: `people: ${names.sort().join(',')}`, blocks, username: 'Echo' });
});
app.event('app_home_opened', async ({ client, event }) => {
  await client.views.publish({ user_id: event.user, view: { type: 'home', blocks: [{ type: 'section', text: text('Home') }] } });
});
app.command('/kelly', async ({ ack, client, command }) => {
  await ack(`pong: ${command.text}`);
  await client.views.open({ trigger_id: command.trigger_id, view: modal() });
});
app.view('form', async ({ ack, body, client, view }) => {
  await ack();
  await client.chat.postMessage({ channel: body.user.id, text: `saved: ${view.state.values.name_block.name.value}` });
});
app.action('go', async ({ ack, action, respond }) => {
  await ack();
  await respond({ text: `pressed: ${action.value}`, replace_original: true });
});
process.on('unhandledRejection', (error) => {
  console.error(error);
  process.exit(1);
});

await app.start();
console.log('ready');
