// For tests only: the forms the double of the Bot API speaks.

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

/** Ids come as numbers, or as text in a form. */
export function toId(value: unknown): number {
  const id = Number(value);
  if (!Number.isSafeInteger(id)) throw badRequest('chat_id is empty');
  return id;
}
