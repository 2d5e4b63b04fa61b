// A gateway connection that reconnects: heartbeats, resume, a new session if resuming is refused, back-off.
//
// Events: `dispatch` ({ type, data }), and `status` ("connecting" | "online" | "reconnecting" | "refused").

const OP = {
  DISPATCH: 0,
  HEARTBEAT: 1,
  IDENTIFY: 2,
  RESUME: 6,
  RECONNECT: 7,
  INVALID_SESSION: 9,
  HELLO: 10,
  HEARTBEAT_ACK: 11,
};

// Close codes after which the client must not reconnect: bad token, shard, version or intents.
const FATAL = new Set([4004, 4010, 4011, 4012, 4013, 4014]);
// Close codes that end the session.
const SESSION_LOST = new Set([1000, 1001, 4003, 4007, 4009]);

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;
// Limit for the connection and HELLO.
const HELLO_DEADLINE_MS = 10_000;

export class Gateway extends EventTarget {
  #url;
  #token;
  #socket = null;
  #sequence = null;
  #session = null;
  #acknowledged = true;
  #failures = 0;
  #timers = { heartbeat: 0, hello: 0, reconnect: 0 };

  constructor(url, token) {
    super();
    this.#url = url;
    this.#token = token;
    // Reconnects at once when the laptop wakes up or the network is back.
    globalThis.addEventListener?.("online", () => this.#socket === null && this.connect());
  }

  get session() {
    return this.#session;
  }

  connect() {
    clearTimeout(this.#timers.reconnect);
    this.#socket?.close();
    this.#report(this.#failures || this.#session ? "reconnecting" : "connecting");
    const socket = new WebSocket(`${this.#url}/?v=10&encoding=json`);
    this.#socket = socket;
    this.#timers.hello = setTimeout(() => socket.close(), HELLO_DEADLINE_MS);
    socket.addEventListener("message", (event) => this.#socket === socket && this.#receive(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => this.#socket === socket && this.#closed(event.code));
  }

  #receive({ op, d, s, t }) {
    if (s !== null && s !== undefined) this.#sequence = s;
    switch (op) {
      case OP.HELLO:
        clearTimeout(this.#timers.hello);
        this.#beatEvery(d.heartbeat_interval);
        return this.#introduce();
      case OP.HEARTBEAT:
        return this.#beat();
      case OP.HEARTBEAT_ACK:
        this.#acknowledged = true;
        return undefined;
      case OP.RECONNECT:
        return this.#socket.close(4000);
      case OP.INVALID_SESSION:
        if (!d) this.#forgetSession();
        return this.#socket.close(4000);
      case OP.DISPATCH:
        return this.#dispatch(t, d);
      default:
        return undefined;
    }
  }

  #dispatch(type, data) {
    if (type === "READY") this.#session = data.session_id;
    if (type === "READY" || type === "RESUMED") {
      this.#failures = 0;
      this.#report("online");
    }
    this.dispatchEvent(new CustomEvent("dispatch", { detail: { type, data } }));
  }

  #introduce() {
    if (this.#session) {
      this.#send(OP.RESUME, { token: this.#token, session_id: this.#session, seq: this.#sequence });
      return;
    }
    const properties = { os: navigator.platform || "web", browser: "teamroom page", device: "" };
    this.#send(OP.IDENTIFY, { token: this.#token, properties, compress: false });
  }

  #beatEvery(interval) {
    clearInterval(this.#timers.heartbeat);
    this.#acknowledged = true;
    this.#timers.heartbeat = setInterval(() => {
      // The last heartbeat was not acknowledged, so the connection is dead.
      if (!this.#acknowledged) return this.#socket.close(4000);
      return this.#beat();
    }, interval);
  }

  #beat() {
    this.#acknowledged = false;
    this.#send(OP.HEARTBEAT, this.#sequence);
  }

  #send(op, d) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ op, d }));
  }

  #closed(code) {
    clearInterval(this.#timers.heartbeat);
    clearTimeout(this.#timers.hello);
    this.#socket = null;
    if (FATAL.has(code)) return this.#report("refused");
    if (SESSION_LOST.has(code)) this.#forgetSession();
    this.#report("reconnecting");
    const delay = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, LONGEST_DELAY_MS);
    this.#failures += 1;
    this.#timers.reconnect = setTimeout(() => this.connect(), delay * (0.75 + Math.random() / 2));
    return undefined;
  }

  #forgetSession() {
    this.#session = null;
    this.#sequence = null;
  }

  #report(status) {
    this.dispatchEvent(new CustomEvent("status", { detail: status }));
  }
}
