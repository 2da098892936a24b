// Reads server-sent events from a response. The client interprets the data.

import type { IncomingMessage } from 'node:http';
import { EventStreamParser, type StreamMessage } from '../../base/event-stream.ts';

const lineCharsMax = 64 * 1024 * 1024;

/** Yields complete messages. Ends when the response ends or breaks. */
export async function* readMessages(response: IncomingMessage): AsyncGenerator<StreamMessage> {
  response.setEncoding('utf8');
  const whole: StreamMessage[] = [];
  const parser = new EventStreamParser({ message: (message) => void whole.push(message) }, lineCharsMax);
  try {
    for await (const chunk of response) {
      parser.push(String(chunk));
      yield* whole.splice(0);
    }
  } catch {
    // A broken connection ends the stream. The caller reconnects with the last sequence it received.
    return;
  }
}
