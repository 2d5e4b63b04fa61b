"""A small app on slack_bolt, with aiohttp for HTTP and Socket Mode. It prints `ready` when it is connected and `ok` when it was
told goodbye.

It hears a message with a file, answers in its thread with a file, edits, reacts and streams. It serves a command with a
modal, a button and a home tab.
"""

import asyncio
import logging
import os

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

# It complains about each event that it has no handler for.
logging.disable(logging.WARNING)
API, TOKEN = os.environ["SANDBOX_API"], os.environ["SANDBOX_TOKEN"]
web = AsyncWebClient(token=TOKEN, base_url=API)
web.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=2))
app = AsyncApp(client=web)
done = asyncio.Event()


def text(value):
    return {"type": "plain_text", "text": value}


def modal():
    element = {"type": "plain_text_input", "action_id": "name"}
    block = {"type": "input", "block_id": "name_block", "label": text("Name"), "element": element}
    return {"type": "modal", "callback_id": "form", "title": text("Form"), "submit": text("Save"), "blocks": [block]}


@app.message("again")
async def again(client, message):
    await client.reactions_add(channel=message["channel"], timestamp=message["ts"], name="eyes")


@app.message("bye")
async def bye():
    done.set()


@app.event({"type": "message", "subtype": "file_share"})
async def heard(client, context, event, say):
    channel, ts = event["channel"], event["ts"]
    async with aiohttp.ClientSession(headers={"Authorization": "Bearer " + TOKEN}) as session:
        async with session.get(event["files"][0]["url_private_download"]) as response:
            content = (await response.read()).decode()
    reply = await say(thread_ts=ts, text="first")
    await client.chat_update(channel=channel, ts=reply["ts"], text="heard: " + content)
    await client.reactions_add(channel=channel, timestamp=ts, name="thumbsup")
    await client.files_upload_v2(channel=channel, thread_ts=ts, filename="echo.txt", content=content, title="Echo")
    stream = await client.chat_stream(
        channel=channel, thread_ts=ts, recipient_team_id=context.team_id, recipient_user_id=event["user"]
    )
    await stream.append(markdown_text="**streamed**")
    await stream.stop()
    names = []
    async for page in await client.users_list(limit=1):
        names += [user["name"] for user in page["members"]]
    button = {"type": "button", "action_id": "go", "text": text("Go"), "value": "42"}
    blocks = [{"type": "actions", "elements": [button]}]
    await say(text="people: " + ",".join(sorted(names)), blocks=blocks, username="Echo")


@app.event("message")
async def ignore():
    """What other handlers do not want."""


@app.event("app_home_opened")
async def home(client, event):
    blocks = [{"type": "section", "text": text("Home")}]
    await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": blocks})


@app.command("/kelly")
async def command(ack, client, body):
    await ack("pong: " + body["text"])
    await client.views_open(trigger_id=body["trigger_id"], view=modal())


@app.view("form")
async def form(ack, body, client, view):
    await ack()
    name = view["state"]["values"]["name_block"]["name"]["value"]
    await client.chat_postMessage(channel=body["user"]["id"], text="saved: " + name)


@app.action("go")
async def go(ack, action, respond):
    await ack()
    await respond(text="pressed: " + action["value"], replace_original=True)


async def main():
    connections = AsyncWebClient(base_url=API)
    handler = AsyncSocketModeHandler(app, os.environ["SANDBOX_APP_TOKEN"], web_client=connections)
    await handler.connect_async()
    print("ready", flush=True)
    await done.wait()
    await handler.close_async()
    print("ok", flush=True)


asyncio.run(main())
