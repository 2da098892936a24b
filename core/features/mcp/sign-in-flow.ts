// A person signs in: an address to open, a small local server that receives the answer, and at most three rounds. Everything that is not
// the answer to this sign-in is refused.

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { settlesWithin } from '../../base/waits.ts';
import { AppError } from '../../contracts/errors.ts';
import type { SignIn, SignInProvider } from './sign-in.ts';

/** One round is too few if the sign-in server changed, and many would let a server ask endlessly. */
const ROUNDS_MAX = 3;
const WAIT_MS = 10 * 60_000;

export interface SignInAttempt {
  /** Connects with the provider. Returns the transport if a person must sign in, or null once signed in. */
  readonly connect: (provider: SignInProvider) => Promise<StreamableHTTPClientTransport | null>;
  readonly signal: AbortSignal;
}

export class SignInFlow {
  readonly #signIn: SignIn;
  readonly #attempt: SignInAttempt;
  readonly #over = new AbortController();
  readonly #first = Promise.withResolvers<string | null>();
  #server: Server | null = null;
  #rounds = 0;
  /** Resolves when the person is signed in, and rejects with the reason otherwise. */
  readonly done: Promise<void>;

  constructor(signIn: SignIn, attempt: SignInAttempt) {
    this.#signIn = signIn;
    this.#attempt = attempt;
    this.done = this.#run();
    this.done.catch(() => undefined);
  }

  /** The address to open; null if no sign-in is needed. Fails as the server does. */
  get address(): Promise<string | null> {
    return Promise.race([this.#first.promise, this.done.then(() => null)]);
  }

  async cancel(): Promise<void> {
    this.#over.abort();
    await this.done.catch(() => undefined);
  }

  async #run(): Promise<void> {
    const signal = AbortSignal.any([this.#attempt.signal, this.#over.signal]);
    const answers: Answers = { waiting: null };
    try {
      const provider = await this.#signIn.interactive((port) => this.#listen(port, answers));
      let transport = await this.#attempt.connect(provider);
      let reply: ServerResponse | null = null;
      while (transport !== null) {
        if (++this.#rounds > ROUNDS_MAX) throw new AppError('tool_failed', `The server asked to sign in more than ${ROUNDS_MAX} times.`);
        const { address } = provider;
        if (address === null || !isWebAddress(address)) throw new AppError('tool_failed', 'The server names no address to sign in at.');
        // In a later round the page that the person has open redirects to the next address.
        if (reply === null) this.#first.resolve(address.href);
        else reply.writeHead(302, { location: address.href, 'cache-control': 'no-store' }).end();
        const answer = await this.#answer(answers, provider, signal);
        reply = answer.reply;
        await transport.finishAuth(answer.params);
        transport = await this.#attempt.connect(provider);
      }
      if (reply !== null) say(reply, 200, 'You are signed in. You can close this page.');
    } catch (cause) {
      if (answers.last?.writableEnded === false) say(answers.last, 400, 'The sign-in failed. TrayClaw says why.');
      throw cause;
    } finally {
      this.#server?.close();
      this.#server?.closeAllConnections();
    }
  }

  async #answer(answers: Answers, provider: SignInProvider, signal: AbortSignal): Promise<Answer> {
    const waiting = Promise.withResolvers<Answer>();
    answers.waiting = { provider, answer: waiting };
    const isAnswered = await settlesWithin(waiting.promise, WAIT_MS, signal);
    answers.waiting = null;
    if (!isAnswered) throw new AppError('tool_failed', 'The sign-in was not finished in time.');
    const answer = await waiting.promise;
    const refused = answer.params.get('error');
    if (refused === null) return answer;
    say(answer.reply, 400, 'The sign-in was refused. You can close this page.');
    throw new AppError('tool_failed', `The sign-in was refused (${refused.replaceAll(/[^a-z_]/g, '').slice(0, 60)}).`);
  }

  /** Listens on the port of an earlier sign-in if possible, else on a free port. */
  #listen(wanted: number | null, answers: Answers): Promise<number> {
    const server = createServer((request, response) => {
      const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
      const { waiting } = answers;
      if (url?.pathname !== '/callback' || request.method !== 'GET') return say(response, 404, 'There is nothing here.');
      if (waiting === null || !waiting.provider.takesState(url.searchParams.get('state'))) {
        return say(response, 400, 'This is not the answer to a sign-in that was begun here.');
      }
      answers.last = response;
      waiting.answer.resolve({ params: url.searchParams, reply: response });
    });
    this.#server = server;
    const listen = async (port: number): Promise<number> => {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return (server.address() as AddressInfo).port;
    };
    return listen(wanted ?? 0).catch((cause: unknown) => {
      if (wanted === null) throw cause;
      return listen(0);
    });
  }
}

interface Answer {
  readonly params: URLSearchParams;
  readonly reply: ServerResponse;
}

interface Answers {
  waiting: { readonly provider: SignInProvider; readonly answer: PromiseWithResolvers<Answer> } | null;
  last?: ServerResponse;
}

function isWebAddress({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:';
}

function say(response: ServerResponse, status: number, text: string): void {
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'",
  };
  response.writeHead(status, headers).end(text);
}
