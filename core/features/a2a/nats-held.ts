// A task that a node of a group holds: what it says to the server about it, and how one node hands it to another.

import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import type { JsMsg } from '@nats-io/jetstream';

const REPLY = 'Trayclaw-Reply';
const DELIVERIES = 'Trayclaw-Deliveries';

/** A task that was given to this node, by the server or by the node that was given it at first. */
export interface Held {
  readonly data: Uint8Array;
  readonly reply: string;
  /** How often it was given out by now. */
  readonly deliveries: number;
  /** It ended. */
  ack(): void;
  /** It takes longer. */
  working(): void;
  /** It is not given out again. */
  term(): void;
}

/** Given by the server. */
export function heldBy(connection: NatsConnection, message: JsMsg): Held {
  // Left out of the type of the client.
  const reply = 'reply' in message && typeof message.reply === 'string' ? message.reply : '';
  return heldAt(connection, message.data, { reply, deliveries: message.info.deliveryCount });
}

/** Given by another node. */
export function handedTo(connection: NatsConnection, { data, headers: handed }: Msg): Held {
  return heldAt(connection, data, { reply: handed?.get(REPLY) ?? '', deliveries: Number(handed?.get(DELIVERIES) ?? 0) });
}

/** The node at this subject holds it from now on; if that is away, the task is given out again. */
export function handOver(connection: NatsConnection, subject: string, { data, reply, deliveries }: Held): void {
  // The server takes no message that has such a reply subject.
  const handed = headers();
  handed.set(REPLY, reply);
  handed.set(DELIVERIES, String(deliveries));
  connection.publish(subject, data, { headers: handed });
}

/** Any node may acknowledge it: the words go to its reply subject. */
function heldAt(connection: NatsConnection, data: Uint8Array, { reply, deliveries }: Pick<Held, 'reply' | 'deliveries'>): Held {
  const say = (word: string) => (): void => {
    // Pending writes of a closed connection are of no use: the task is given out again.
    if (!connection.isClosed()) connection.publish(reply, word);
  };
  return { data, reply, deliveries, ack: say('+ACK'), working: say('+WPI'), term: say('+TERM') };
}
