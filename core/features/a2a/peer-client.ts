// A peer over the A2A SDK: its card, and its tasks in this program's types. Loaded when a peer is first used. Strict in what it sends,
// lenient in what it accepts.

import { Role, TaskState, type AgentCard, type Artifact, type Message, type Part, type Task } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory, type Client } from '@a2a-js/sdk/client';
import { networkCode } from '../../base/network-failure.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import type { PeerState } from '../../contracts/features/a2a.ts';
import { carry, extensionUri, readEnd } from './carried.ts';
import { peerFetch, unavailable, type PeerAddress } from './peer-fetch.ts';
import type { OutgoingTask, PeerLink, PeerTask } from './peer-link.ts';

export interface PeerCard {
  readonly name: string;
  readonly description: string;
  readonly skills: readonly string[];
}

const states: Partial<Record<TaskState, PeerState>> = {
  [TaskState.TASK_STATE_SUBMITTED]: 'submitted',
  [TaskState.TASK_STATE_WORKING]: 'working',
  [TaskState.TASK_STATE_COMPLETED]: 'completed',
  [TaskState.TASK_STATE_FAILED]: 'failed',
  [TaskState.TASK_STATE_CANCELED]: 'canceled',
  [TaskState.TASK_STATE_INPUT_REQUIRED]: 'waiting',
  [TaskState.TASK_STATE_REJECTED]: 'rejected',
  [TaskState.TASK_STATE_AUTH_REQUIRED]: 'waiting',
};
/** Refusal reasons that are temporary. */
const passing: ReadonlySet<string> = new Set(['queue_full', 'shutting_down', 'panic_engaged', 'rate_limited']);
const FIND_PAGE = 50;

/** Fails with model_unavailable, model_auth or model_rejected. */
export async function connectPeer(address: PeerAddress, fetch: typeof globalThis.fetch): Promise<PeerClient> {
  // Many agents speak revision 0.3 only; their card says so.
  const options = { fetchImpl: peerFetch(address, fetch), legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
    cardResolver: new DefaultAgentCardResolver(options),
  });
  const client = await translated(address.peer, () => factory.createFromUrl(address.url.endsWith('/') ? address.url : `${address.url}/`));
  const card = await translated(address.peer, () => client.getAgentCard());
  return new PeerClient(address.peer, client, card);
}

export class PeerClient implements PeerLink {
  readonly once: boolean;
  readonly #peer: string;
  readonly #client: Client;
  readonly #card: AgentCard;

  constructor(peer: string, client: Client, card: AgentCard) {
    this.#peer = peer;
    this.#client = client;
    this.#card = card;
    this.once = card.capabilities?.extensions.some(({ uri }) => uri === extensionUri) === true;
  }

  get card(): PeerCard {
    const { name, description, skills } = this.#card;
    return { name: short(name), description: short(description), skills: skills.slice(0, 50).map((skill) => short(skill.name)) };
  }

  async send({ messageId, contextId, text, ...work }: OutgoingTask, signal: AbortSignal): Promise<PeerTask> {
    const message: Message = {
      messageId,
      contextId: contextId ?? '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' }],
      metadata: this.once ? carry(work) : undefined,
      extensions: this.once ? [extensionUri] : [],
      referenceTaskIds: [],
    };
    const configuration = { acceptedOutputModes: ['text/plain'], taskPushNotificationConfig: undefined, returnImmediately: true };
    const result = await this.#ask(() => this.#client.sendMessage({ tenant: '', message, configuration, metadata: undefined }, { signal }));
    return 'messageId' in result ? answered(result) : taskOf(result);
  }

  async find(messageId: string, contextId: string | null, signal: AbortSignal): Promise<PeerTask | null> {
    const query = { tenant: '', contextId: contextId ?? '', status: TaskState.TASK_STATE_UNSPECIFIED, pageSize: FIND_PAGE, pageToken: '' };
    try {
      const wanted = { ...query, historyLength: 100, statusTimestampAfter: undefined, includeArtifacts: true };
      const { tasks } = await this.#ask(() => this.#client.listTasks(wanted, { signal }));
      const found = tasks.find(({ history }) => history.some((message) => message.messageId === messageId));
      return found === undefined ? null : taskOf(found);
    } catch (cause) {
      // Many agents cannot list tasks, so the task counts as unknown.
      if (isAppError(cause) && cause.code === 'denied') return null;
      throw cause;
    }
  }

  async get(taskId: string, signal: AbortSignal): Promise<PeerTask> {
    return taskOf(await this.#ask(() => this.#client.getTask({ tenant: '', id: taskId }, { signal })));
  }

  async follow(taskId: string, say: (text: string) => void, signal: AbortSignal): Promise<void> {
    let said = '';
    try {
      for await (const { payload } of this.#client.resubscribeTask({ tenant: '', id: taskId }, { signal })) {
        if (payload?.$case !== 'artifactUpdate') continue;
        const text = textIn(payload.value.artifact?.parts ?? []);
        // Pieces may be missing here. The last update has the complete answer, of which only the missing end is said.
        const isWhole = payload.value.lastChunk;
        const piece = !isWhole ? text : said !== '' && text.startsWith(said) ? text.slice(said.length) : '';
        said += piece;
        if (piece !== '') say(piece);
      }
    } catch (cause) {
      const error = errorOf(this.#peer, cause);
      // The task has ended in the meantime, or this agent does not stream. The caller reads the task instead.
      if (error.code !== 'denied') throw error;
    }
  }

  async cancel(taskId: string, signal: AbortSignal): Promise<void> {
    await this.#ask(() => this.#client.cancelTask({ tenant: '', id: taskId, metadata: undefined }, { signal }));
  }

  #ask<T>(work: () => Promise<T>): Promise<T> {
    return translated(this.#peer, work);
  }
}

function taskOf({ id, contextId, status, artifacts, metadata }: Task): PeerTask {
  return {
    taskId: id,
    contextId,
    state: states[status?.state ?? TaskState.TASK_STATE_UNSPECIFIED] ?? 'working',
    text: textOf(artifacts),
    note: textIn(status?.message?.parts ?? []),
    spent: readEnd(metadata),
  };
}

/** A message in place of a task is the whole answer. */
function answered({ contextId, parts }: Message): PeerTask {
  return { taskId: '', contextId, state: 'completed', text: textIn(parts), note: '', spent: null };
}

function textOf(artifacts: readonly Artifact[]): string {
  return artifacts
    .map(({ parts }) => textIn(parts))
    .filter((text) => text !== '')
    .join('\n\n');
}

/** Parts are paragraphs, unless one begins or ends with a space: then they are the pieces of a text as it was streamed. */
function textIn(parts: readonly Part[]): string {
  const texts = parts.map(textOfPart);
  const arePieces = parts.every(({ content }) => content?.$case === 'text') && texts.some((text) => /^\s|\s$/.test(text));
  return texts.join(arePieces ? '' : '\n');
}

function textOfPart({ content, filename }: Part): string {
  switch (content?.$case) {
    case 'text':
      return content.value;
    case 'data':
      return JSON.stringify(content.value);
    case 'url':
      return `File: ${content.value}`;
    case 'raw':
      return `File ${filename} (${content.value.length} bytes), which is not fetched.`;
    case undefined:
      return '';
  }
}

function short(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 300);
}

async function translated<T>(peer: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw errorOf(peer, cause);
  }
}

/** Unwraps an error of this program that the SDK wrapped. A refusal keeps the peer's message. */
function errorOf(peer: string, cause: unknown): AppError {
  for (let inner: unknown = cause; inner instanceof Error; inner = inner.cause) {
    if (isAppError(inner)) return inner;
    if (inner.name === 'AbortError') return new AppError('cancelled', 'The request was stopped.', { cause });
  }
  const { reason, metadata, message } = cause as { reason?: unknown; metadata?: Record<string, string>; message?: string };
  if (typeof reason !== 'string') {
    // Something answered, and the SDK could not read it.
    const isRead = networkCode(cause) === null;
    return isRead ? unavailable(peer, cause, `The agent ${peer} gave no answer of the A2A protocol.`) : unavailable(peer, cause);
  }
  if (metadata?.['code'] !== undefined && passing.has(metadata['code'])) return unavailable(peer, cause);
  const said = (message ?? '').slice(0, 500);
  if (reason === 'TASK_NOT_FOUND') return new AppError('tool_failed', `The agent ${peer} no longer knows the task.`, { cause });
  return new AppError('denied', `The agent ${peer} refused the task: ${said}`, {
    cause,
    untrusted: [{ kind: 'message', where: `a2a:${peer}` }],
  });
}
