// The shell's log, passed through the runtime's redactor, because links, causes and summaries come from a model and may contain anything.

import type { Logger } from '../../core/base/logger.ts';

/** `redact` is called for every line and may change: before the runtime exists, no secret is known. */
export function redactedLog(logger: Logger, redact: (text: string) => string): Logger {
  const safe = (value: unknown): unknown => {
    if (typeof value === 'string') return redact(value);
    if (value instanceof Error) return redact(value.stack ?? value.message);
    // The shell logs no deeply nested data; an object is redacted as its JSON text.
    if (typeof value === 'object' && value !== null) return redact(JSON.stringify(value));
    return value;
  };
  return {
    log: (level, message, data) => {
      const shown = data === undefined ? undefined : Object.fromEntries(Object.entries(data).map(([key, value]) => [key, safe(value)]));
      logger.log(level, redact(message), shown);
    },
  };
}
