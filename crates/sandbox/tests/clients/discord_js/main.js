// A small bot with discord.js: receives a message with a file, answers with a file, edits, reacts, and has a command.
// It prints `ready` when it is online and `ok` when everything has happened.
import { AttachmentBuilder, Client, Events, GatewayIntentBits, Partials } from 'discord.js';

const { SANDBOX_API, SANDBOX_TOKEN, SANDBOX_GUILD } = process.env;
const done = new Set();
const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.MessageContent, GatewayIntentBits.GuildMessageReactions],
  partials: [Partials.Message],
  rest: { api: `${SANDBOX_API}/api` },
});

function finish(step) {
  done.add(step);
  if (done.size === 2) {
    console.log('ok');
    client.destroy().then(() => process.exit(0));
  }
}

client.once(Events.ClientReady, async () => {
  await client.application.commands.set([
    { name: 'ping', description: 'answers', options: [{ type: 3, name: 'text', description: 'what', required: true }] },
  ], SANDBOX_GUILD);
  console.log('ready');
});

client.on(Events.MessageCreate, async (message) => {
  if (message.author.bot) return;
  const file = await (await fetch(message.attachments.first().url)).text();
  await message.channel.sendTyping();
  const echo = new AttachmentBuilder(Buffer.from(`heard: ${file}`), { name: 'echo.txt' });
  const reply = await message.reply({ content: 'first', files: [echo] });
  await reply.edit(`${message.content}, edited`);
  await message.react('👍');
  finish('message');
});

client.on(Events.InteractionCreate, async (interaction) => {
  await interaction.deferReply();
  await interaction.editReply(`pong: ${interaction.options.getString('text')}`);
  finish('command');
});

process.on('unhandledRejection', (error) => {
  console.error(error);
  process.exit(1);
});

await client.login(SANDBOX_TOKEN);
