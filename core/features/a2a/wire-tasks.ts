// Tasks in the form of the A2A SDK: reads messages, renders tasks, and implements the SDK's request handler over the task desk. Loaded with
// the first request. The only file of the door that knows the SDK's task types.

import { Role, TaskState, type Message, type Part, type StreamResponse, type Task } from '@a2a-js/sdk';
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  ExtendedAgentCardNotConfiguredError,
} from '@a2a-js/sdk/errors';
import { AgentCard, type ListTasksRequest, type ListTasksResponse, type SendMessageRequest } from '@a2a-js/sdk';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { AppError, isAppError } from '../../contracts/errors.ts';
import type { PeerState } from '../../contracts/features/a2a.ts';
import { carry, readWork, type CarriedWork } from './carried.ts';
import { isEnd, type GivenFile, type ListedTask, type TaskChange, type TaskDesk, type TaskOwner, type TaskView } from './tasks.ts';

export interface TaskVisit {
  readonly owner: TaskOwner;
  readonly card: object;
  /** Aborts when the caller is gone or its token is revoked. */
  readonly signal: AbortSignal;
}

const states: Readonly<Record<PeerState, TaskState>> = {
  submitted: TaskState.TASK_STATE_SUBMITTED,
  working: TaskState.TASK_STATE_WORKING,
  // A person authorizes it elsewhere. INPUT_REQUIRED would ask the client for a message, and WORKING would hold a blocking request open.
  waiting: TaskState.TASK_STATE_AUTH_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
  rejected: TaskState.TASK_STATE_REJECTED,
};
const PAGE_MAX = 100;
const PAGE = 50;
const TEXT_MAX = 1_000_000;
const MESSAGE_ID_MAX = 200;
const NO_PUSH = 'Push notifications are not supported: stream the task, or ask for it.';
const answerId = 'answer';

export function handlerOf(desk: TaskDesk, visit: TaskVisit): A2ARequestHandler {
  const { owner, signal } = visit;
  const push = (): Promise<never> => Promise.reject(new PushNotificationNotSupportedError(NO_PUSH));
  return {
    getAgentCard: () => Promise.resolve(AgentCard.fromJSON(visit.card)),
    getAuthenticatedExtendedAgentCard: () => Promise.reject(new ExtendedAgentCardNotConfiguredError('There is one card for all.')),
    sendMessage: (params) =>
      translated(async () => {
        assertHistory(params.configuration?.historyLength);
        const task = await begin(desk, visit, params);
        if (params.configuration?.returnImmediately === true || isEnd(task.state)) return taskOf(task, params.configuration?.historyLength);
        return taskOf(await rested(desk, visit, task), params.configuration?.historyLength);
      }),
    sendMessageStream: (params) => streamOf(desk, visit, () => begin(desk, visit, params)),
    getTask: ({ id, historyLength }) =>
      translated(() => {
        assertHistory(historyLength);
        return Promise.resolve(taskOf(desk.view(owner, given(id)), historyLength));
      }),
    listTasks: (params) => translated(() => Promise.resolve(pageOf(desk.list(owner), params))),
    cancelTask: ({ id }) =>
      translated(
        async () => taskOf(await desk.cancel(owner, given(id)), undefined),
        (cause) => (cause.code === 'turn_not_running' ? new TaskNotCancelableError(`The task ${id} has ended.`) : null),
      ),
    resubscribe: ({ id }) =>
      streamOf(desk, visit, () => {
        const task = desk.view(owner, given(id));
        if (isEnd(task.state)) throw new UnsupportedOperationError(`The task ${id} has ended; get it instead.`);
        return Promise.resolve(task);
      }),
    createTaskPushNotificationConfig: push,
    getTaskPushNotificationConfig: push,
    listTaskPushNotificationConfigs: push,
    deleteTaskPushNotificationConfig: push,
  };

  function given(id: string): string {
    if (id.trim() === '') throw new RequestMalformedError('The id of the task is missing.');
    if (signal.aborted) throw new AppError('cancelled', 'The connection has closed.');
    return id;
  }
}

/** A message starts a task, or adds text to the task it names. */
async function begin(desk: TaskDesk, { owner }: TaskVisit, { message, metadata, configuration }: SendMessageRequest): Promise<TaskView> {
  if (message === undefined) throw new RequestMalformedError('There is no message.');
  if (message.messageId === '' || message.messageId.length > MESSAGE_ID_MAX)
    throw new RequestMalformedError(`message.messageId must have 1 to ${MESSAGE_ID_MAX} characters.`);
  if (configuration?.taskPushNotificationConfig !== undefined) throw new PushNotificationNotSupportedError(NO_PUSH);
  const { text, files } = readParts(message.parts);
  const work = workIn(message, metadata);
  if (message.taskId !== '') {
    const task = desk.view(owner, message.taskId);
    if (message.contextId !== '' && message.contextId !== task.contextId)
      throw new RequestMalformedError('The task belongs to another context.');
    if (desk.knows(owner, message.messageId)) return task;
    if (isEnd(task.state)) throw new UnsupportedOperationError('The task has ended. Send the message in its context, without its id.');
    if (files.length > 0) throw new RequestMalformedError('Files are taken only with the first message of a task.');
    if (text.trim() === '') throw new RequestMalformedError('The message has no text.');
    return desk.add(owner, { taskId: task.taskId, messageId: message.messageId, text });
  }
  const contextId = message.contextId === '' ? null : message.contextId;
  return desk.begin(owner, { ...work, messageId: message.messageId, contextId, text, files });
}

function workIn(message: Message, metadata: SendMessageRequest['metadata']): CarriedWork {
  const work = readWork(message.metadata ?? metadata);
  if (work === null) throw new RequestMalformedError('The metadata of the extension for carried work is not valid.');
  return work;
}

function readParts(parts: readonly Part[]): { text: string; files: GivenFile[] } {
  const lines: string[] = [];
  const files: GivenFile[] = [];
  for (const [at, { content, filename, mediaType }] of parts.entries()) {
    switch (content?.$case) {
      case 'text':
        lines.push(content.value);
        break;
      case 'data':
        lines.push(JSON.stringify(content.value));
        break;
      case 'url':
        lines.push(`File: ${content.value}`);
        break;
      case 'raw':
        files.push({
          name: filename === '' ? `file-${at + 1}` : filename,
          mediaType: mediaType === '' ? 'application/octet-stream' : mediaType,
          bytes: content.value,
        });
        break;
      case undefined:
        throw new RequestMalformedError(`message.parts[${at}] has no content.`);
    }
  }
  const text = lines.join('\n\n');
  if (text.length > TEXT_MAX) throw new RequestMalformedError(`The message has more than ${TEXT_MAX} characters.`);
  return { text, files };
}

/** Waits until the task has ended or waits for a person. */
async function rested(desk: TaskDesk, { owner, signal }: TaskVisit, task: TaskView): Promise<TaskView> {
  let latest = task;
  for await (const change of desk.follow(owner, task.taskId, signal)) {
    if (change.kind === 'state') latest = change.view;
    if (latest.state === 'waiting') break;
  }
  return latest;
}

/** Yields the task, then its changes. The stream ends with the task, and stays open while a person decides. */
async function* streamOf(
  desk: TaskDesk,
  { owner, signal }: TaskVisit,
  start: () => Promise<TaskView>,
): AsyncGenerator<StreamResponse, void, undefined> {
  try {
    const task = await start();
    yield { payload: { $case: 'task', value: taskOf(task, undefined) } };
    if (isEnd(task.state)) return;
    let isNew = true;
    for await (const change of desk.follow(owner, task.taskId, signal)) {
      if (change.kind === 'state' && change.view.state === task.state && isNew) continue;
      yield* responsesOf(task, change, isNew);
      if (change.kind === 'text') isNew = false;
    }
  } catch (cause) {
    throw errorOf(cause);
  }
}

function* responsesOf({ taskId, contextId }: TaskView, change: TaskChange, isNew: boolean): Generator<StreamResponse> {
  const artifact = (text: string, append: boolean, lastChunk: boolean): StreamResponse => ({
    payload: { $case: 'artifactUpdate', value: { taskId, contextId, artifact: answerOf(text), append, lastChunk, metadata: undefined } },
  });
  if (change.kind === 'text') {
    yield artifact(change.text, !isNew, false);
    return;
  }
  const { view } = change;
  // The whole answer replaces the pieces, since some may be missing.
  if (view.text !== '') yield artifact(view.text, false, true);
  const metadata = view.spent === null ? undefined : carry(view.spent);
  yield { payload: { $case: 'statusUpdate', value: { taskId, contextId, status: statusOf(view), metadata } } };
}

function taskOf(view: TaskView, historyLength: number | undefined): Task {
  const { taskId, contextId, messageId, asked, text, spent } = view;
  const message: Message = { ...messageOf(asked, { taskId, contextId }), messageId, role: Role.ROLE_USER };
  return {
    id: taskId,
    contextId,
    status: statusOf(view),
    artifacts: text === '' ? [] : [answerOf(text)],
    history: historyLength === 0 ? [] : [message],
    metadata: spent === null ? undefined : carry(spent),
  };
}

function statusOf(view: TaskView): NonNullable<Task['status']> {
  const { taskId, contextId, state, note, atMs } = view;
  const message = note === null ? undefined : { ...messageOf(note, { taskId, contextId }), messageId: `${taskId}-${state}` };
  return { state: states[state], timestamp: new Date(atMs).toISOString(), message };
}

function messageOf(text: string, place: { readonly taskId: string; readonly contextId: string }): Message {
  return {
    messageId: '',
    role: Role.ROLE_AGENT,
    parts: [partOf(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...place,
  };
}

function answerOf(text: string): Task['artifacts'][number] {
  return { artifactId: answerId, name: 'Answer', description: '', parts: [partOf(text)], metadata: undefined, extensions: [] };
}

export function partOf(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

function pageOf(all: readonly ListedTask[], params: ListTasksRequest): ListTasksResponse {
  const { contextId, status, pageToken, pageSize, historyLength, statusTimestampAfter, includeArtifacts } = params;
  if (pageSize !== undefined && (pageSize < 1 || pageSize > PAGE_MAX))
    throw new RequestMalformedError(`pageSize must be 1 to ${PAGE_MAX}.`);
  assertHistory(historyLength);
  if (status === TaskState.UNRECOGNIZED) throw new RequestMalformedError('There is no such status.');
  const afterMs = statusTimestampAfter === undefined ? null : momentOf(statusTimestampAfter);
  const wanted = all.filter(
    (task) =>
      (contextId === '' || task.contextId === contextId) &&
      (status === TaskState.TASK_STATE_UNSPECIFIED || states[task.state] === status) &&
      (afterMs === null || task.view().atMs > afterMs),
  );
  const from = pageToken === '' ? 0 : wanted.findIndex(({ taskId }) => taskId === pageToken) + 1;
  if (pageToken !== '' && from === 0) throw new RequestMalformedError('pageToken is none that was given out.');
  const size = pageSize ?? PAGE;
  const page = wanted.slice(from, from + size);
  const last = page.at(-1);
  const tasks = page.map(({ view }) => ({
    ...taskOf(view(), historyLength ?? 0),
    ...(includeArtifacts === true ? {} : { artifacts: [] }),
  }));
  return {
    tasks,
    nextPageToken: last !== undefined && from + size < wanted.length ? last.taskId : '',
    pageSize: size,
    totalSize: wanted.length,
  };
}

/** Fails unless it begins with a year, because Date also reads texts such as -1. */
function momentOf(text: string): number {
  const atMs = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) throw new RequestMalformedError('statusTimestampAfter is not a time.');
  return atMs;
}

function assertHistory(length: number | undefined): void {
  if (length !== undefined && length < 0) throw new RequestMalformedError('historyLength must not be negative.');
}

async function translated<T>(work: () => Promise<T>, first?: (cause: AppError) => Error | null): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw (isAppError(cause) ? first?.(cause) : null) ?? errorOf(cause);
  }
}

/** Maps errors of this program to errors of the protocol. Returns any other error unchanged. */
export function errorOf(cause: unknown): unknown {
  if (!isAppError(cause)) return cause;
  const { code } = cause;
  const said = cause.told();
  if (code === 'not_found') return new TaskNotFoundError(said);
  if (code === 'invalid_params' || code === 'payload_too_large') return new RequestMalformedError(said);
  return new UnsupportedOperationError({ message: said, metadata: { code } });
}
