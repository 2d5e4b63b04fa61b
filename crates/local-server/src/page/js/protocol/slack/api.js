// The routes of the local Slack for people.

import { ApiError } from "../error.js";

export class Api {
  #token;

  constructor(token) {
    this.#token = token;
  }

  get(path) {
    return this.#send("GET", path);
  }

  post(path, body = {}) {
    return this.#send("POST", path, body);
  }

  put(path, body = {}) {
    return this.#send("PUT", path, body);
  }

  delete(path) {
    return this.#send("DELETE", path);
  }

  async #send(method, path, body) {
    const headers = { Authorization: `Bearer ${this.#token}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    let response;
    let text;
    try {
      response = await fetch(`/people${path}`, { method, headers, body: body && JSON.stringify(body) });
      text = await response.text();
    } catch {
      throw unreachable();
    }
    return settle(response.status, text);
  }

  /** Sends a form. Uses XMLHttpRequest, because only it reports upload progress, as a number from 0 to 1. */
  upload(path, form, onProgress) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("POST", `/people${path}`);
      request.setRequestHeader("Authorization", `Bearer ${this.#token}`);
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

function unreachable() {
  return new ApiError(0, "unreachable", "the sandbox does not answer");
}

function settle(status, text) {
  let body = null;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    // Not JSON: the status says enough.
  }
  if (status >= 200 && status < 300) return body;
  throw new ApiError(status, body?.error ?? "", body?.message ?? `the server answered ${status}`);
}
