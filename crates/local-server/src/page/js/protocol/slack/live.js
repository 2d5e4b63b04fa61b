// The connection on which the local Slack reports changes. It reconnects with a growing pause. Each connection begins
// with the whole state.
//
// Events: `frame` (what the server sent), and `status` ("connecting" | "online" | "reconnecting" | "refused").

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;

export class Live extends EventTarget {
  #token;
  #socket = null;
  #failures = 0;
  #timer = 0;
  #wasOnline = false;

  constructor(token) {
    super();
    this.#token = token;
    // Reconnects at once when the laptop wakes up or the network is back.
    addEventListener("online", () => this.#socket === null && this.connect());
  }

  connect() {
    clearTimeout(this.#timer);
    this.#socket?.close();
    this.#report(this.#wasOnline ? "reconnecting" : "connecting");
    const address = `${location.origin.replace(/^http/, "ws")}/people/live?token=${encodeURIComponent(this.#token)}`;
    const socket = new WebSocket(address);
    this.#socket = socket;
    socket.addEventListener("message", (event) => this.#socket === socket && this.#receive(JSON.parse(event.data)));
    socket.addEventListener("close", () => this.#socket === socket && this.#closed());
  }

  #receive(frame) {
    if (frame.type === "ready") {
      this.#failures = 0;
      this.#wasOnline = true;
      this.#report("online");
    }
    this.dispatchEvent(new CustomEvent("frame", { detail: frame }));
  }

  async #closed() {
    this.#socket = null;
    this.#report("reconnecting");
    if (await this.#isRefused()) return this.#report("refused");
    const delay = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, LONGEST_DELAY_MS);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.connect(), delay * (0.75 + Math.random() / 2));
    return undefined;
  }

  /** A browser does not say why a WebSocket was refused. */
  async #isRefused() {
    const headers = { Authorization: `Bearer ${this.#token}` };
    const response = await fetch("/people/overview", { headers }).catch(() => null);
    return response?.status === 401;
  }

  #report(status) {
    this.dispatchEvent(new CustomEvent("status", { detail: status }));
  }
}
