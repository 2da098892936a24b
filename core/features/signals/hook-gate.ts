// Webhooks: their list, the check of a caller, and the content of a call. The secret or the signature is compared in constant time, wrong
// guesses are rate-limited, and the whole body is untrusted content.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { jsonIn } from '../../base/json.ts';
import { RecentTimes } from '../../base/recent-times.ts';
import { AppError } from '../../contracts/errors.ts';
import type { Attention, HookSignature } from '../../contracts/features/signals.ts';
import type { OpParsed } from '../../contracts/ops.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { SignalHub, SignalResult } from './signal-hub.ts';
import { signalOrigin } from './signal-words.ts';

export interface SignalTarget {
  readonly attention: Attention;
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly perTurnUsd?: number | undefined;
}

export interface HookGateDeps {
  readonly hub: Pick<SignalHub, 'receive'>;
  readonly clock: Clock;
  readonly webhooks: Readonly<Record<string, SignalTarget & { readonly secret: string; readonly signature?: SignatureForm | undefined }>>;
  /** Fails if the secret is missing. */
  secret(ref: string): Promise<string>;
  boundsOf(target: Pick<SignalTarget, 'tools' | 'perTurnUsd'>): TurnBounds;
}

type HookCall = OpParsed<'signal.hook'>;

const GUESSES_MAX = 10;
const TEXT_KEYS = ['text', 'message', 'title'] as const;

export class HookGate {
  readonly #deps: HookGateDeps;
  /** Wrong names or secrets within the last minute, over all webhooks, because names can be guessed too. */
  readonly #guesses: RecentTimes;

  constructor(deps: HookGateDeps) {
    this.#deps = deps;
    this.#guesses = new RecentTimes(deps.clock, 60_000);
  }

  /** Fails with unauthorized for a wrong name, secret or signature, with rate_limited, and with the errors of a signal. */
  async call(call: HookCall): Promise<SignalResult> {
    const hook = Object.hasOwn(this.#deps.webhooks, call.name) ? this.#deps.webhooks[call.name] : undefined;
    const expected = hook === undefined ? '' : await this.#deps.secret(hook.secret);
    const { signature: form } = hook ?? {};
    const given = call.signature ?? {};
    // Compared for an unknown name as well, so that the timing does not reveal which names exist.
    const isRight =
      form === undefined
        ? timingSafeEqual(digest(call.secret), digest(expected)) && expected !== ''
        : expected !== '' && isSigned(form, given, call.body, { secret: expected, nowMs: this.#deps.clock.nowMs() });
    if (hook === undefined || !isRight) throw this.#refuse();
    const { text, data } = readBody(call);
    const { attention, agent = 'main', session = ownSessions.signal + call.name } = hook;
    return this.#deps.hub.receive({
      source: 'webhook',
      name: call.name,
      dedupeKey: keyOf(call, form),
      text,
      data,
      attention,
      session: { sessionId: session, title: `Signals of ${call.name}` },
      agentId: agent,
      untrusted: [signalOrigin({ source: 'webhook', name: call.name })],
      bounds: this.#deps.boundsOf(hook),
    });
  }

  /** Limits only wrong guesses, so that guessing cannot lock out the sender with the right secret. */
  #refuse(): AppError {
    if (this.#guesses.count() >= GUESSES_MAX) return new AppError('rate_limited', 'Too many calls with a wrong name, secret or signature.');
    this.#guesses.add();
    return new AppError('unauthorized', 'There is no such webhook, or its secret is wrong, or the signature is wrong or too old.');
  }
}

const isForm = /^application\/x-www-form-urlencoded\s*(;|$)/i;

/**
 * A JSON body is kept as data, and one of its fields may contain the text. Any other body is the text. By default GitHub sends its JSON in
 * the field `payload` of a form.
 */
function readBody({ body: raw, contentType = '' }: HookCall): { text: string; data: string | null } {
  const body = (isForm.test(contentType) ? new URLSearchParams(raw).get('payload') : null) ?? raw;
  const parsed = jsonIn(body);
  if (typeof parsed !== 'object' || parsed === null) return { text: body, data: null };
  const fields = parsed as Readonly<Record<string, unknown>>;
  const key = TEXT_KEYS.find((name) => typeof fields[name] === 'string');
  return { text: key === undefined ? '' : String(fields[key]), data: body };
}

/** For a signed call only what is signed counts, so that a replay is a repetition. */
function keyOf({ body, signature, dedupeKey }: HookCall, form: SignatureForm | undefined): string {
  const signed = form === 'standard' ? signature?.id : undefined;
  return signed ?? (form === undefined ? dedupeKey : undefined) ?? digest(body).toString('hex');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

// Signatures of webhook senders: Standard Webhooks 1.0 (https://www.standardwebhooks.com), which cover the id and the time, and the older
// form of GitHub, which covers the body alone. Pure.

type SignatureForm = 'standard' | 'github';

const TOLERANCE_S = 300;
const base64Secret = /^whsec_/;

/** The secret is not empty. */
function isSigned(form: SignatureForm, given: HookSignature, body: string, by: { secret: string; nowMs: number }): boolean {
  const { id = '', timestamp = '', standard = '', github = '' } = given;
  if (form === 'github') return isSame(github, `sha256=${createHmac('sha256', by.secret).update(body).digest('hex')}`);
  const ageS = by.nowMs / 1000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN);
  const key = base64Secret.test(by.secret) ? Buffer.from(by.secret.replace(base64Secret, ''), 'base64') : Buffer.from(by.secret);
  if (!(Math.abs(ageS) <= TOLERANCE_S) || id === '' || key.length === 0) return false;
  const right = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return standard.split(' ').some((one) => isSame(one, right));
}

/** In constant time for texts of one length; the length of a signature is not a secret. */
function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
