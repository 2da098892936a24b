// For tests only: the data formats of the Bot API double.

export type Json = Record<string, unknown>;

export interface WireUser {
  readonly id: number;
  readonly is_bot: boolean;
  readonly first_name: string;
  readonly username?: string;
}

/** Errors that the server answers with `ok: false`. */
export class BotApiError extends Error {
  readonly status: number;
  readonly parameters: Json;

  constructor(status: number, description: string, parameters: Json = {}) {
    super(description);
    this.status = status;
    this.parameters = parameters;
  }
}

export const badRequest = (what: string): BotApiError => new BotApiError(400, `Bad Request: ${what}`);

/** Parses an id, which is a number, or text in a form. */
export function toId(value: unknown): number {
  const id = Number(value);
  if (!Number.isSafeInteger(id)) throw badRequest('chat_id is empty');
  return id;
}
