// POST /hooks/NAME: a signal from another program on this computer. Needs no token, because the runtime checks the webhook's own secret or signature.
// Handles sizes and headers; the body is untrusted content.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Claw } from '../../contracts/claw.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { refusal, sendJson, sendRefusal } from './reply.ts';
import { collectBody } from './request-body.ts';

export const hookPrefix = '/hooks/';
const BODY_BYTES_MAX = 256 * 1024;
/** Headers in which senders put the secret itself; GitLab has its own. */
const SECRET_HEADERS = ['x-trayclaw-secret', 'x-gitlab-token'];
/** Headers in which senders put the id of a delivery, which may be sent twice. */
const KEY_HEADERS = ['idempotency-key', 'x-github-delivery', 'x-gitlab-event-uuid', 'webhook-id', 'svix-id'];

export async function receiveHook(claw: Claw, request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  try {
    if (request.method !== 'POST') {
      return sendRefusal(
        request,
        response,
        refusal(new AppError('invalid_params', 'This address answers POST only.'), { allow: 'POST' }, 405),
      );
    }
    const body = request.headers['content-encoding'] === undefined ? await collectBody(request, BODY_BYTES_MAX) : null;
    if (body === null) throw new AppError('payload_too_large', `A webhook takes up to ${BODY_BYTES_MAX / 1024} KB, not encoded.`);
    const dedupeKey = first(request, KEY_HEADERS);
    // Svix signs like Standard Webhooks and uses other header names.
    const signature = {
      id: first(request, ['webhook-id', 'svix-id']),
      timestamp: first(request, ['webhook-timestamp', 'svix-timestamp']),
      standard: first(request, ['webhook-signature', 'svix-signature']),
      github: one(request, 'x-hub-signature-256'),
    };
    const params = {
      name: path.slice(hookPrefix.length),
      secret: first(request, SECRET_HEADERS) ?? '',
      signature,
      body: body.toString('utf8'),
      contentType: request.headers['content-type']?.slice(0, 200),
    };
    const result = await claw.op('signal.hook', dedupeKey === undefined ? params : { ...params, dedupeKey: dedupeKey.slice(0, 200) }, {
      channel: 'http',
      actor: 'webhook',
    });
    sendJson(response, 200, { ok: true, result });
  } catch (cause) {
    if (!isAppError(cause)) throw cause;
    sendRefusal(request, response, refusal(cause));
  }
}

function first(request: IncomingMessage, names: readonly string[]): string | undefined {
  return names.map((name) => one(request, name)).find((value) => value !== undefined && value !== '');
}

/** The value of a header. Ignored if sent twice, because it would be ambiguous. */
function one(request: IncomingMessage, name: string): string | undefined {
  const values = request.headersDistinct[name] ?? [];
  return values.length === 1 ? values[0] : undefined;
}
