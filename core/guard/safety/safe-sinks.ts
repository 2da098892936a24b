// The choke points before stored content and the program's log: nothing passes them unredacted. Text is stored without secrets, so that any
// page of it can be shown. Binary content is stored as is, except for registered values. The sinks store nothing themselves.

import { decodeText, encodeText } from '../../base/text-encoding.ts';
import type { Logger } from '../../base/logger.ts';
import type { ArtifactSink } from '../../contracts/tools.ts';

export interface ContentRedactor {
  redact(text: string): { readonly text: string };
  redactValues(text: string): string;
}

export function createSafeArtifacts(sink: ArtifactSink, redactor: ContentRedactor): ArtifactSink {
  return {
    put: (content, about) => sink.put(withoutSecrets(content, redactor), { ...about, name: redactor.redact(about.name).text }),
    read: (idOrAlias, range) => sink.read(idOrAlias, range),
  };
}

function withoutSecrets(content: Uint8Array | string, redactor: ContentRedactor): Uint8Array | string {
  if (typeof content === 'string') return redactor.redact(content).text;
  const decoded = decodeText(content);
  if (decoded?.isExact === true) {
    const safe = redactor.redact(decoded.text).text;
    return safe === decoded.text ? content : (encodeText(safe, decoded.encoding) ?? safe);
  }
  // One letter for each byte, so that all other bytes stay as they are.
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1');
  const safe = decoded === null ? redactor.redactValues(text) : redactor.redact(text).text;
  return safe === text ? content : Buffer.from(safe, 'latin1');
}

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

/** Errors have no enumerable fields, and their causes contain further details. */
function describeErrors(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, describe(value, 0)]));
}

function describe(value: unknown, depth: number): unknown {
  if (!(value instanceof Error) || depth > DEPTH_MAX) return value instanceof Error ? value.message : value;
  const own = value.stack ?? value.message;
  return value.cause === undefined ? own : { error: own, cause: describe(value.cause, depth + 1) };
}
