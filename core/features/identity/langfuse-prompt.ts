// Fetches the text of a prompt from Langfuse through its documented API (GET /api/public/v2/prompts/NAME). Contacts only the configured
// server; makes no decision.

import * as z from 'zod';
import { jsonIn } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import { resolvedValue } from '../../contracts/secret-ref.ts';
import { GuardedFetch, type FetchLimits } from '../../guard/egress/egress.ts';
import { OneOriginCheck } from '../../guard/safety/safety.ts';

export interface LangfuseSource {
  readonly name: string;
  readonly label: string;
}

const replySchema = z.object({ type: z.string().default('text'), prompt: z.unknown() });

/** The needed part of telemetry.langfuse. */
export interface LangfuseServer {
  readonly baseUrl: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

/** Fails with fetch_failed or invalid_config. */
export async function langfusePrompt(
  { name, label }: LangfuseSource,
  server: LangfuseServer | undefined,
  ports: { readonly resolve: (reference: string) => Promise<string>; readonly limits: FetchLimits },
  signal: AbortSignal,
): Promise<string> {
  if (server === undefined)
    throw new AppError('invalid_config', 'No Langfuse server is set for this prompt.', { hint: 'Set telemetry.langfuse in config.yaml.' });
  const base = server.baseUrl.replace(/\/+$/, '');
  const pair = `${await resolvedValue(server.publicKey, ports.resolve)}:${await resolvedValue(server.secretKey, ports.resolve)}`;
  const http = new GuardedFetch({ judge: new OneOriginCheck(base), limits: ports.limits });
  const url = `${base}/api/public/v2/prompts/${encodeURIComponent(name)}?label=${encodeURIComponent(label)}`;
  const headers = { accept: 'application/json', authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  const { status, body, isCut } = await http.fetch({ url, headers, mayFollow: () => false }, signal);
  const failed = (what: string): AppError => new AppError('fetch_failed', `Langfuse ${what} for the prompt ${name}.`);
  if (status === 404) throw failed(`has no version with the label ${label}`);
  if (status !== 200 || isCut) throw failed(isCut ? 'gave too much' : `answered ${status}`);
  const parsed = replySchema.safeParse(jsonIn(body.toString('utf8')));
  if (!parsed.success) throw failed('gave something that is not a prompt');
  const { type, prompt } = parsed.data;
  if (type !== 'text' || typeof prompt !== 'string') throw failed('has a prompt of messages, and only one of text can be used,');
  return prompt;
}
