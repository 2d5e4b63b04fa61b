// The REST API. Short rate limits are waited for and retried here, so callers see a response or an `ApiError`.

import { ApiError } from "../error.js";

const MAX_RETRIES = 4;

// A longer rate limit is reported instead of waited for.
const LONGEST_WAIT_MS = 10_000;

export class Api {
  #token;

  constructor(token) {
    this.#token = token;
  }

  get(path) {
    return this.#json("GET", path);
  }

  post(path, body) {
    return this.#json("POST", path, body);
  }

  patch(path, body) {
    return this.#json("PATCH", path, body);
  }

  put(path, body) {
    return this.#json("PUT", path, body);
  }

  delete(path) {
    return this.#json("DELETE", path);
  }

  /** Discord's own search is not for bots or people's tokens, so the sandbox has one for this page. */
  async search(words) {
    const headers = { Authorization: this.#token };
    const response = await reach(() => fetch(`/sandbox/search?${new URLSearchParams({ text: words })}`, { headers }));
    return settle(response.status, await reach(() => response.text()));
  }

  async #json(method, path, body) {
    const headers = { Authorization: this.#token };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    for (let attempt = 0; ; attempt += 1) {
      const response = await reach(() =>
        fetch(`/api/v10${path}`, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }),
      );
      const text = await reach(() => response.text());
      const wait = waitFor(response.status, text);
      if (wait === null || attempt >= MAX_RETRIES) return settle(response.status, text);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  /**
   * Sends JSON with files. Uses XMLHttpRequest, because only it reports upload progress. `onProgress` gets a number
   * from 0 to 1.
   */
  upload(method, path, body, files, onProgress) {
    const form = new FormData();
    const attachments = files.map((file, id) => ({ id, filename: file.name }));
    form.append("payload_json", JSON.stringify(withAttachments(body, attachments)));
    files.forEach((file, id) => form.append(`files[${id}]`, file, file.name));
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(method, `/api/v10${path}`);
      request.setRequestHeader("Authorization", this.#token);
      request.upload.addEventListener(
        "progress",
        (event) => event.lengthComputable && onProgress?.(event.loaded / event.total),
      );
      request.addEventListener("load", () => {
        try {
          resolve(settle(request.status, request.responseText));
        } catch (error) {
          reject(error);
        }
      });
      request.addEventListener("error", () => reject(unreachable()));
      request.send(form);
    });
  }
}

/** An interaction has its files inside `data`, a message at the top level. */
function withAttachments(body, attachments) {
  return body.data ? { ...body, data: { ...body.data, attachments } } : { ...body, attachments };
}

async function reach(request) {
  try {
    return await request();
  } catch {
    throw unreachable();
  }
}

function unreachable() {
  return new ApiError(0, 0, "the sandbox does not answer");
}

function waitFor(status, text) {
  if (status !== 429) return null;
  const wait = Number(parseJson(text)?.retry_after ?? 1) * 1000;
  return wait <= LONGEST_WAIT_MS ? wait + 50 : null;
}

function settle(status, text) {
  const body = parseJson(text);
  if (status >= 200 && status < 300) return body;
  throw new ApiError(status, body?.code ?? 0, explain(status, body));
}

function parseJson(text) {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

/** The first field error of Discord's nested form errors, or the general message. */
function explain(status, body) {
  if (status === 413 || body?.code === 40005) return "the file is too large (10 MB each, 25 MB together)";
  return firstFormError(body?.errors) ?? body?.message ?? `the server answered ${status}`;
}

function firstFormError(errors, path = "") {
  if (!errors || typeof errors !== "object") return null;
  if (Array.isArray(errors._errors))
    return errors._errors[0] ? `${path ? `${path}: ` : ""}${errors._errors[0].message}` : null;
  for (const [key, value] of Object.entries(errors)) {
    const found = firstFormError(value, path ? `${path}.${key}` : key);
    if (found) return found;
  }
  return null;
}
