// The choke point of kept content: text is stored without secrets, so that any page of it can be shown. Content that is no text is kept as
// it is but for registered values. Stores nothing itself.

import { isUtf8 } from 'node:buffer';
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
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const encoding = isUtf8(content) ? 'utf8' : 'latin1';
  const text = bytes.toString(encoding);
  const safe = encoding === 'utf8' ? redactor.redact(text).text : redactor.redactValues(text);
  return safe === text ? content : Buffer.from(safe, encoding);
}
