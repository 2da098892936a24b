// Reads server-sent events from a response. What the data means is the client's.

import type { IncomingMessage } from 'node:http';
import { EventStreamParser, type StreamMessage } from '../../base/event-stream.ts';

const lineCharsMax = 64 * 1024 * 1024;

/** Yields whole messages; ends when the response ends or breaks. */
export async function* readMessages(response: IncomingMessage): AsyncGenerator<StreamMessage> {
  response.setEncoding('utf8');
  const whole: StreamMessage[] = [];
  const parser = new EventStreamParser({ message: (message) => void whole.push(message), id: () => undefined }, lineCharsMax);
  try {
    for await (const chunk of response) {
      parser.push(String(chunk));
      yield* whole.splice(0);
    }
  } catch {
    // A connection that breaks ends the stream; the caller reconnects with the last sequence it saw.
    return;
  }
}
