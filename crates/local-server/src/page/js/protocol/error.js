export class ApiError extends Error {
  /** `status` is 0 if the server could not be reached. `code` is the platform's. */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}
