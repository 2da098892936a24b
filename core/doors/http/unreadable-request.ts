// Answers what Node's parser could not read as a request, with an error in the form of the operations. There is no request and no response
// yet, so the bytes are written to the socket.

import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '../../contracts/errors.ts';
import { refusal, securityHeaders, type Refusal } from './reply.ts';

/** `answering` is the response that the connection is busy with, if there is one. Ends the connection. */
export function refuseUnreadable(cause: NodeJS.ErrnoException, socket: Duplex, answering: ServerResponse | undefined): void {
  // Bytes after the head of another answer would look like a part of its body.
  const isBusy = answering !== undefined && answering.headersSent && !answering.writableFinished;
  if (cause.code === 'ECONNRESET' || !socket.writable || isBusy) return void socket.destroy();
  const { status, error } = refusalOf(cause.code);
  const body = JSON.stringify({ ok: false, error: error.toBody() });
  const headers = {
    ...securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy());
}

function refusalOf(code: string | undefined): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return refusal(new AppError('invalid_params', 'The headers of the request are larger than 16 KB.'), undefined, 431);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return refusal(new AppError('payload_too_large', 'The request body has chunk extensions larger than 16 KB.'));
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refusal(new AppError('invalid_params', 'The request did not arrive in time.'), undefined, 408);
    default:
      return refusal(new AppError('invalid_params', 'The request is not valid HTTP.'), undefined, 400);
  }
}
