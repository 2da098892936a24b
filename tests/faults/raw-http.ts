// Sends raw bytes to the local server, including malformed heads that no HTTP client would send.

import { connect, type Socket } from 'node:net';

const ANSWER_MAX_MS = 10_000;

export interface RawAnswer {
  /** 0 if the server closed without an answer. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends a request and reads until the server closes. The head must ask for that, unless the server closes anyway. */
export async function sendRaw(port: number, bytes: string): Promise<RawAnswer> {
  const [answer] = await sendAllRaw(port, bytes);
  return answer ?? { status: 0, head: '', body: '' };
}

/** Every answer received on one connection. */
export function sendAllRaw(port: number, bytes: string): Promise<RawAnswer[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    const guard = setTimeout(() => socket.destroy(new Error('no answer in time')), ANSWER_MAX_MS);
    let got = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (got += chunk));
    socket.on('error', (cause: NodeJS.ErrnoException) => {
      // The server may close while there is still something to send.
      if (cause.code !== 'ECONNRESET' && cause.code !== 'EPIPE') reject(cause);
    });
    socket.on('close', () => {
      clearTimeout(guard);
      resolve(parseAnswers(got));
    });
  });
}

function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest.startsWith('HTTP/1.1 ');) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const head = rest.slice(0, headEnd < 0 ? rest.length : headEnd);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    const bodyAt = headEnd < 0 ? rest.length : headEnd + 4;
    answers.push({ status: Number(head.slice(9, 12)), head, body: rest.slice(bodyAt, bodyAt + length) });
    rest = rest.slice(bodyAt + length);
  }
  return answers;
}

/** Opens a connection that sends something and then stays silent. */
export function openHalf(port: number, bytes: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1', () => resolve(socket)));
    socket.on('error', reject);
    socket.on('data', () => undefined);
  });
}
