"""A small bot with hikari: receives a message with a file, answers with a file, edits, reacts, and has a command.

hikari reads the id of the bot from its token. It prints `ready` when it is online and `ok` when everything has happened.
"""

import os

import hikari

GUILD = int(os.environ["SANDBOX_GUILD"])
bot = hikari.GatewayBot(
    os.environ["SANDBOX_TOKEN"],
    rest_url=os.environ["SANDBOX_API"] + "/api/v10",
    banner=None,
    # Printed where the test expects its two lines, so a complaint of hikari fails it.
    logs="ERROR",
    intents=hikari.Intents.ALL_UNPRIVILEGED | hikari.Intents.MESSAGE_CONTENT,
)
done = set()


async def finish(step):
    done.add(step)
    if len(done) == 2:
        print("ok", flush=True)
        await bot.close()


@bot.listen()
async def on_started(_: hikari.StartedEvent):
    option = hikari.CommandOption(type=hikari.OptionType.STRING, name="text", description="what", is_required=True)
    ping = bot.rest.slash_command_builder("ping", "answers").add_option(option)
    await bot.rest.set_application_commands(bot.get_me().id, [ping], guild=GUILD)
    print("ready", flush=True)


@bot.listen()
async def on_message(event: hikari.GuildMessageCreateEvent):
    if event.is_bot:
        return
    message = event.message
    file = await message.attachments[0].read()
    await bot.rest.trigger_typing(event.channel_id)
    echo = hikari.Bytes(b"heard: " + file, "echo.txt")
    reply = await message.respond("first", attachment=echo, reply=True)
    await reply.edit(f"{message.content}, edited")
    await message.add_reaction("\N{THUMBS UP SIGN}")
    await finish("message")


@bot.listen()
async def on_interaction(event: hikari.CommandInteractionCreateEvent):
    interaction = event.interaction
    await interaction.create_initial_response(hikari.ResponseType.DEFERRED_MESSAGE_CREATE)
    await interaction.edit_initial_response(f"pong: {interaction.options[0].value}")
    await finish("command")


bot.run(check_for_updates=False)
