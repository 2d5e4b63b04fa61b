"""A small bot on discord.py: hears a message with a file, answers with a file, edits, reacts, and serves a command.

It prints `ready` when it can be spoken to and `ok` when all of it has happened.
"""

import io
import os

import discord
import discord.gateway
import yarl

discord.http.Route.BASE = os.environ["SANDBOX_API"] + "/api/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(os.environ["SANDBOX_GATEWAY"])

guild = discord.Object(int(os.environ["SANDBOX_GUILD"]))
intents = discord.Intents.default()
intents.message_content = True


class Bot(discord.Client):
    def __init__(self):
        super().__init__(intents=intents)
        self.tree = discord.app_commands.CommandTree(self)
        self.done = set()

    async def setup_hook(self):
        @self.tree.command(name="ping", description="answers", guild=guild)
        async def ping(interaction: discord.Interaction, text: str):
            await interaction.response.defer()
            await interaction.edit_original_response(content=f"pong: {text}")
            await self.finish("command")

        await self.tree.sync(guild=guild)

    async def on_ready(self):
        print("ready", flush=True)

    async def on_message(self, message):
        if message.author.bot:
            return
        # discord.py downloads from the address that the message carries.
        file = await message.attachments[0].read()
        await message.channel.typing()
        echo = discord.File(io.BytesIO(b"heard: " + file), filename="echo.txt")
        reply = await message.reply("first", file=echo)
        await reply.edit(content=f"{message.content}, edited")
        await message.add_reaction("\N{THUMBS UP SIGN}")
        await self.finish("message")

    async def finish(self, step):
        self.done.add(step)
        if len(self.done) == 2:
            print("ok", flush=True)
            await self.close()


Bot().run(os.environ["SANDBOX_TOKEN"])
