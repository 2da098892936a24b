// A task that a node of a group holds: how the node reports its progress to the server, and how one node hands the task to another.

import { headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import type { JsMsg } from '@nats-io/jetstream';

const REPLY = 'Trayclaw-Reply';
const DELIVERIES = 'Trayclaw-Deliveries';

/** A task delivered to this node, by the server or by the node that received it first. */
export interface Held {
  readonly data: Uint8Array;
  readonly reply: string;
  /** How often the task has been delivered so far. */
  readonly deliveries: number;
  /** Acknowledges the task: it is done. */
  ack(): void;
  /** Extends the acknowledgement deadline. */
  working(): void;
  /** Ends delivery: the server does not deliver the task again. */
  term(): void;
}

/** A task delivered by the server. */
export function heldBy(connection: NatsConnection, message: JsMsg): Held {
  // The client's type omits `reply`.
  const reply = 'reply' in message && typeof message.reply === 'string' ? message.reply : '';
  return heldAt(connection, message.data, { reply, deliveries: message.info.deliveryCount });
}

/** A task handed over by another node. */
export function handedTo(connection: NatsConnection, { data, headers: handed }: Msg): Held {
  return heldAt(connection, data, { reply: handed?.get(REPLY) ?? '', deliveries: Number(handed?.get(DELIVERIES) ?? 0) });
}

/** Hands the task to the node at this subject. If that node is unreachable, the server delivers the task again. */
export function handOver(connection: NatsConnection, subject: string, { data, reply, deliveries }: Held): void {
  // The reply subject travels in a header, because the server rejects a message published with such a reply subject.
  const handed = headers();
  handed.set(REPLY, reply);
  handed.set(DELIVERIES, String(deliveries));
  connection.publish(subject, data, { headers: handed });
}

/** Any node may acknowledge the task, by publishing to its reply subject. */
function heldAt(connection: NatsConnection, data: Uint8Array, { reply, deliveries }: Pick<Held, 'reply' | 'deliveries'>): Held {
  const say = (word: string) => (): void => {
    // Skips writes to a closed connection. The server delivers the task again.
    if (!connection.isClosed()) connection.publish(reply, word);
  };
  return { data, reply, deliveries, ack: say('+ACK'), working: say('+WPI'), term: say('+TERM') };
}
