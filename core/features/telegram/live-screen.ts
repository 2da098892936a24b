// Shows an answer in Telegram while it is written: as a draft if the server supports drafts, otherwise as a message that is edited.

import type { LiveFailure, LiveScreen } from '../../contracts/channels.ts';
import { readFailure } from './api-failure.ts';
import type { BotApi } from './bot-api.ts';

const SHOWN_MAX = 4_000;

export function liveScreen(api: Pick<BotApi, 'sendDraft' | 'sendText' | 'editText' | 'sendTyping'>): LiveScreen {
  // Never aborted: otherwise a message with an unknown id could remain next to the answer.
  const whole = new AbortController().signal;
  return {
    shownMax: SHOWN_MAX,
    draft: (draft, signal) => api.sendDraft(draft, signal),
    send: (chatId, text, threadId) => api.sendText({ chatId, threadId, text, isHtml: false }, whole),
    edit: (message) => api.editText({ ...message, isHtml: false }, whole),
    typing: (chatId, signal, threadId) => api.sendTyping({ chatId, threadId }, signal),
    failureOf: (cause, signal) => failureOf(cause, signal),
  };
}

function failureOf(cause: unknown, signal: AbortSignal): LiveFailure {
  const failure = readFailure(cause, signal);
  if (failure.kind === 'flood' || failure.kind === 'aborted') return failure;
  return { kind: failure.kind === 'refused' && failure.why !== 'blocked' ? 'unsupported' : 'unavailable' };
}
