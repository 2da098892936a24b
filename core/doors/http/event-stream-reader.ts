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
  const parser = new MessageParser();
  try {
    for await (const chunk of response) {
      yield* parser.take(String(chunk));
      if (parser.pendingChars > messageCharsMax) return;
    }
  } catch {
    // A connection that breaks ends the stream; the caller reconnects with the last sequence it saw.
    return;
  }
}

class MessageParser {
  #pending = '';
  #message = emptyMessage();

  get pendingChars(): number {
    return this.#pending.length;
  }

  take(text: string): StreamMessage[] {
    const lines = (this.#pending + text).split('\n');
    this.#pending = lines.pop() ?? '';
    const whole: StreamMessage[] = [];
    for (const line of lines) {
      if (line !== '') takeLine(this.#message, line);
      else {
        if (this.#message.data.length > 0) whole.push({ event: this.#message.event, data: this.#message.data.join('\n') });
        this.#message = emptyMessage();
      }
    }
    return whole;
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
