// The http_request tool: any request that a person allows. Describes it to the gate and formats its result. Secrets are inserted by
// reference, sent only to the approved host, and never returned.

import * as z from 'zod';
import { isLoopbackHost } from '../../base/loopback.ts';
import { fetchMethods, refuseHeader, staysOnHost, type FetchAnswer, type RedirectHop } from '../../guard/egress/egress.ts';
import { AppError } from '../../contracts/errors.ts';
import type { CallFacts, ToolContext, ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import { formatBytes } from './bound-text.ts';
import { defineTool } from './define-tool.ts';
import { fillSecrets, onlyAsks, secretReferences, showsWhoAsks, type SecretValues } from './http-request-headers.ts';
import { presentBody } from './web-content.ts';
import { describeStop, parseUrl, requestFacts, shownUrl, URL_CHARS_MAX, webSources, type WebToolDeps } from './web-tool-ports.ts';

const BODY_CHARS_MAX = 900_000;
const HEADERS_SHOWN_MAX = 40;
const HEADER_CHARS_SHOWN_MAX = 300;

const input = z.strictObject({
  method: z.enum(fetchMethods).describe('GET and HEAD take no body.'),
  url: z.string().min(1).max(URL_CHARS_MAX).describe('The full URL, starting with http:// or https://.'),
  headers: z
    .record(z.string(), z.string().max(8_000))
    .superRefine(checkHeaders)
    .optional()
    .describe('Never write a secret itself. Refer to where it is stored: {keychain:NAME} or {env:NAME}, as in "Bearer {keychain:github}".'),
  body: z.string().max(BODY_CHARS_MAX).optional().describe('Sent as is; name its type in content-type.'),
  maxChars: z
    .number()
    .int()
    .min(200)
    .max(200_000)
    .default(20_000)
    .describe('Characters of the body to return; the whole body is kept as an artifact.'),
});
type Args = z.infer<typeof input>;

export interface HttpRequestDeps extends WebToolDeps {
  readonly secrets: SecretValues;
  /** Redacts known secrets, in any encoding. */
  readonly redact: (text: string) => string;
}

export function createHttpRequest(deps: HttpRequestDeps): ToolDefinition {
  return defineTool({
    name: 'http_request',
    description: 'Send one HTTP request, for example to a web API; returns the status, headers and body.',
    input: input.superRefine((args, context) => {
      if (args.body !== undefined && isGetOrHead(args))
        context.addIssue({ code: 'custom', path: ['body'], message: `a ${args.method} request has no body` });
    }),
    class: 'network',
    shows: { verb: 'request', target: ['url'] },
    // A request that identifies the person is recorded before it is sent, even if it only reads.
    idempotency: (args) => (!isGetOrHead(args) ? 'unsafe' : reads(args) ? 'pure' : 'idempotent'),
    timeoutMs: deps.timeoutMs,
    facts: (args) => factsOf(deps, args),
    summarize: (args) =>
      `send ${args.method} to ${shownUrl(args.url)}${args.body === undefined ? '' : ` with ${formatBytes(Buffer.byteLength(args.body))}`}`,
    run: (args, context) => send(deps, args, context),
  });
}

function checkHeaders(
  headers: Record<string, string>,
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  for (const [name, value] of Object.entries(headers)) {
    const reason = refuseHeader(name, value);
    if (reason !== null) context.addIssue({ code: 'custom', path: [name.slice(0, 50)], message: reason });
  }
}

function isGetOrHead({ method }: Pick<Args, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD';
}

function reads(args: Args): boolean {
  return isGetOrHead(args) && onlyAsks(args.headers ?? {});
}

function factsOf({ http }: HttpRequestDeps, args: Args): CallFacts {
  const refs = secretReferences(args.headers ?? {});
  const url = parseUrl(args.url);
  const host = url?.hostname ?? args.url;
  if (refs.length > 0 && url !== null && !isPrivateWay(url)) {
    throw new AppError('invalid_arguments', `A secret is not sent to ${host} over a connection that is not encrypted.`, {
      hint: 'Use https.',
    });
  }
  const risks = [
    ...refs.map((ref) => `It shows ${host} the secret ${ref}.`),
    ...(refs.length === 0 && showsWhoAsks(args.headers ?? {}) ? [`Its headers tell ${host} who asks.`] : []),
    ...(args.body === undefined ? [] : [`It sends ${formatBytes(Buffer.byteLength(args.body))} to ${host}.`]),
  ];
  const toolClass = refs.length > 0 ? 'credential' : 'network';
  return requestFacts(http, { method: args.method, url: args.url, reads: reads(args), class: toolClass }, risks);
}

/** Returns whether the connection is encrypted or stays on this computer. */
function isPrivateWay({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopbackHost(hostname);
}

async function send(deps: HttpRequestDeps, args: Args, context: ToolContext): Promise<ToolResult> {
  const { headers, values } = await fillSecrets(args.headers ?? {}, deps.secrets);
  const scrub = values.size === 0 ? (text: string) => text : (text: string) => deps.redact(withoutValues(text, values));
  const { method, url, body } = args;
  const mayFollow = (hop: RedirectHop): boolean => hop.staysOnOrigin || (reads(args) && (staysOnHost(hop) || hop.isListed));
  const request = { method, url, headers, mayFollow, ...(body === undefined ? {} : { body }) };
  const answer = await deps.http.fetch(request, context.signal);
  const untrusted = webSources(answer.hosts);
  if (answer.redirectTo !== null && !isGetOrHead(args)) return { forModel: scrub(describeMoved(answer, answer.redirectTo)), untrusted };
  if (answer.redirectTo !== null) return { forModel: scrub(describeStop('http_request', answer, answer.redirectTo)), untrusted };
  const prelude = scrub(headersOf(answer));
  // Markdown escapes some characters, so a secret on a returned page would no longer be recognised.
  const raw = values.size === 0 ? 'none' : 'pages';
  const content = await presentBody(answer, { raw, charsMax: args.maxChars, bytesMax: deps.outputBytesMax, scrub, prelude }, context);
  const lines = [scrub(`${answer.status} from ${shownUrl(answer.url)}`), ...content.notes.map((note) => `[${note}]`), content.text];
  return {
    forModel: lines.filter((line) => line !== '').join('\n'),
    isError: answer.status >= 400,
    untrusted,
    artifacts: content.artifacts,
  };
}

/** The request was made, and may have had its effect. */
function describeMoved(answer: FetchAnswer, to: string): string {
  return `${new URL(answer.url).hostname} took the request, answered ${answer.status} and points to ${shownUrl(to)}, which was not fetched. If its content is needed, call web_fetch with that URL.`;
}

function headersOf({ headers }: FetchAnswer): string {
  return Object.entries(headers)
    .filter(([name]) => !['connection', 'date', 'transfer-encoding', 'keep-alive'].includes(name))
    .slice(0, HEADERS_SHOWN_MAX)
    .map(([name, value]) => {
      // A login session with the server must not leak into the result.
      const shown =
        name === 'set-cookie' ? '(not shown, not kept)' : value.replaceAll(/[^\t\x20-\x7e]/g, '?').slice(0, HEADER_CHARS_SHOWN_MAX);
      return `${name}: ${shown}`;
    })
    .join('\n');
}

function withoutValues(text: string, values: ReadonlyMap<string, string>): string {
  let clean = text;
  for (const [ref, value] of values) clean = clean.replaceAll(value, `[redacted:${ref.slice(ref.indexOf(':') + 1)}]`);
  return clean;
}
