// Reads server-sent events from a response. Owns the line format only; what the data means is the client's.

import type { IncomingMessage } from 'node:http';

export interface StreamMessage {
  readonly event: string;
  readonly data: string;
}

const messageCharsMax = 64 * 1024 * 1024;

/** Yields whole messages; ends when the response ends or breaks. */
export async function* readMessages(response: IncomingMessage): AsyncGenerator<StreamMessage> {
  response.setEncoding('utf8');
  let pending = '';
  let message = emptyMessage();
  try {
    for await (const chunk of response) {
      pending += String(chunk);
      let end = pending.indexOf('\n');
      let start = 0;
      for (; end >= 0; end = pending.indexOf('\n', start)) {
        const line = pending.slice(start, end);
        start = end + 1;
        if (line !== '') takeLine(message, line);
        else {
          if (message.data.length > 0) yield { event: message.event, data: message.data.join('\n') };
          message = emptyMessage();
        }
      }
      pending = pending.slice(start);
      if (pending.length > messageCharsMax) return;
    }
  } catch {
    // A connection that breaks ends the stream; the caller reconnects with the last sequence it saw.
    return;
  }
}

interface OpenMessage {
  event: string;
  readonly data: string[];
}

function emptyMessage(): OpenMessage {
  return { event: 'message', data: [] };
}

function takeLine(message: OpenMessage, line: string): void {
  const colon = line.indexOf(':');
  if (colon <= 0) return;
  const field = line.slice(0, colon);
  const value = line.slice(colon + 1).replace(/^ /, '');
  if (field === 'data') message.data.push(value);
  if (field === 'event') message.event = value;
}
