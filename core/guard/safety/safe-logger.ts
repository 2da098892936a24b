// The choke point of the program's own log: nothing reaches the file or the screen behind it unredacted. Formats nothing else.

import type { Logger } from '../../base/logger.ts';

export interface LogRedactor {
  redact(text: string): { readonly text: string };
  redactDeep<T>(value: T): T;
}

export function createSafeLogger(logger: Logger, redactor: LogRedactor): Logger {
  return {
    log: (level, message, data) => {
      const safe = data === undefined ? undefined : redactor.redactDeep(describeErrors(data));
      logger.log(level, redactor.redact(message).text, safe);
    },
  };
}

const DEPTH_MAX = 5;

/** Errors have no enumerable fields of their own, and their causes hold the rest. */
function describeErrors(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, describe(value, 0)]));
}

function describe(value: unknown, depth: number): unknown {
  if (!(value instanceof Error) || depth > DEPTH_MAX) return value instanceof Error ? value.message : value;
  const own = value.stack ?? value.message;
  return value.cause === undefined ? own : { error: own, cause: describe(value.cause, depth + 1) };
}
