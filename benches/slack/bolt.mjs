// The smallest bot on @slack/bolt that does what the team does: asks the model, and answers under a persona's name.

import bolt from '@slack/bolt';

const { SANDBOX_API, SANDBOX_TOKEN, SANDBOX_APP_TOKEN, MODEL_URL } = process.env;
const app = new bolt.App({
  token: SANDBOX_TOKEN,
  appToken: SANDBOX_APP_TOKEN,
  socketMode: true,
  clientOptions: { slackApiUrl: SANDBOX_API },
  logLevel: bolt.LogLevel.ERROR,
});
app.message(/^(\w+), report/, async ({ context, message, say }) => {
  const asked = { model: 'scripted-1', messages: [{ role: 'user', content: message.text }] };
  const headers = { 'content-type': 'application/json', authorization: 'Bearer none' };
  const answer = await (await fetch(`${MODEL_URL}/chat/completions`, { method: 'POST', headers, body: JSON.stringify(asked) })).json();
  await say({ text: answer.choices[0].message.content, username: context.matches[1], icon_emoji: ':robot_face:' });
});
await app.start();
console.log('ready');
