"""A small bot on slack_sdk. It prints `ready` when it is connected and `ok` when it was told goodbye.

It hears a message with a file, answers in its thread with a file, edits, reacts and streams. It serves a command with a
modal, a button and a home tab.
"""

import os
import threading
import urllib.request

from slack_sdk import WebClient
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler
from slack_sdk.socket_mode import SocketModeClient
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.webhook import WebhookClient

web = WebClient(token=os.environ["SANDBOX_TOKEN"], base_url=os.environ["SANDBOX_API"])
web.retry_handlers.append(RateLimitErrorRetryHandler(max_retry_count=2))
connections = WebClient(base_url=os.environ["SANDBOX_API"])


class Client(SocketModeClient):
    """Takes a session and its state together.

    `connect` of slack_sdk sets one after the other. If its receiving thread begins between the two, it watches a state
    that nobody ends: it never receives from the next session, and `close` waits for it without end.
    """

    def __init__(self, **settings):
        self.swap = threading.RLock()
        super().__init__(**settings)

    def connect(self):
        with self.swap:
            super().connect()

    def _run_current_session(self):
        with self.swap:
            session, state = self.current_session, self.current_session_state
        if session is not None and session.is_active():
            session.run_until_completion(state)


client = Client(app_token=os.environ["SANDBOX_APP_TOKEN"], web_client=connections)
done = threading.Event()
me = web.auth_test()


def text(value):
    return {"type": "plain_text", "text": value}


def modal():
    element = {"type": "plain_text_input", "action_id": "name"}
    block = {"type": "input", "block_id": "name_block", "label": text("Name"), "element": element}
    return {"type": "modal", "callback_id": "form", "title": text("Form"), "submit": text("Save"), "blocks": [block]}


def heard(event):
    channel, ts = event["channel"], event["ts"]
    if "again" in event["text"]:
        web.reactions_add(channel=channel, timestamp=ts, name="eyes")
        return
    if "bye" in event["text"]:
        done.set()
        return
    request = urllib.request.Request(event["files"][0]["url_private_download"])
    request.add_header("Authorization", "Bearer " + web.token)
    content = urllib.request.urlopen(request).read().decode()
    reply = web.chat_postMessage(channel=channel, thread_ts=ts, text="first")
    web.chat_update(channel=channel, ts=reply["ts"], text="heard: " + content)
    web.reactions_add(channel=channel, timestamp=ts, name="thumbsup")
    web.files_upload_v2(channel=channel, thread_ts=ts, filename="echo.txt", content=content, title="Echo")
    stream = web.chat_stream(channel=channel, thread_ts=ts, recipient_team_id=me["team_id"], recipient_user_id=event["user"])
    stream.append(markdown_text="**strea")
    stream.append(markdown_text="med**")
    stream.stop()
    names = [user["name"] for page in web.users_list(limit=1) for user in page["members"]]
    button = {"type": "button", "action_id": "go", "text": text("Go"), "value": "42"}
    blocks = [{"type": "actions", "elements": [button]}]
    web.chat_postMessage(channel=channel, text="people: " + ",".join(sorted(names)), blocks=blocks, username="Echo")


def serve(_, request):
    payload = request.payload
    answer = None
    if request.type == "slash_commands":
        answer = {"text": "pong: " + payload["text"]}
    client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id, payload=answer))
    if request.type == "slash_commands":
        web.views_open(trigger_id=payload["trigger_id"], view=modal())
    elif request.type == "interactive" and payload["type"] == "view_submission":
        name = payload["view"]["state"]["values"]["name_block"]["name"]["value"]
        web.chat_postMessage(channel=payload["user"]["id"], text="saved: " + name)
    elif request.type == "interactive":
        value = payload["actions"][0]["value"]
        WebhookClient(payload["response_url"]).send(text="pressed: " + value, replace_original=True)
    elif payload["event"]["type"] == "app_home_opened":
        blocks = [{"type": "section", "text": text("Home")}]
        web.views_publish(user_id=payload["event"]["user"], view={"type": "home", "blocks": blocks})
    elif payload["event"]["type"] == "message" and payload["event"].get("user") and not payload["event"].get("bot_id"):
        heard(payload["event"])


client.socket_mode_request_listeners.append(serve)
client.connect()
print("ready", flush=True)
done.wait()
client.close()
print("ok", flush=True)
