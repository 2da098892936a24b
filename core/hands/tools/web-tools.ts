// Creates the web tools, wired with their dependencies. Search is included only if the person chose a service.

import * as z from 'zod';
import type { Config } from '../../contracts/config.ts';
import type { ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import { GuardedFetch, staysOnHost } from '../../guard/egress/egress.ts';
import { OneOriginCheck, type SafetyChecks } from '../../guard/safety/safety.ts';
import type { Secrets } from '../../guard/secret/secret.ts';
import { defineTool } from './define-tool.ts';
import type { SecretValues } from './http-request-headers.ts';
import { createHttpRequest } from './http-request.ts';
import { presentBody } from './web-content.ts';
import { pageTimeMaxMs } from './web-page.ts';
import { createWebSearch } from './web-search.ts';
import { describeStop, requestFacts, shownUrl, URL_CHARS_MAX, type WebHttp, webSources, type WebToolDeps } from './web-tool-ports.ts';

export interface WebDeps {
  readonly http: WebHttp;
  /** For searches: the same client, or one that reaches only the configured service. */
  readonly searchHttp: WebHttp;
  readonly secrets: SecretValues;
  readonly config: Config['web'];
  /** Redacts known secrets, in any encoding. */
  readonly redact: (text: string) => string;
}

export function createWebTools(deps: WebDeps, outputBytesMax: number): readonly ToolDefinition[] {
  const { http, secrets, redact } = deps;
  const { search, timeoutMs: requestMs } = deps.config;
  const shared = { http, outputBytesMax, timeoutMs: requestMs + 2 * pageTimeMaxMs };
  return [
    createWebFetch(shared),
    createHttpRequest({ ...shared, secrets, redact }),
    ...(search === undefined ? [] : [createWebSearch({ ...shared, http: deps.searchHttp, search, secrets })]),
  ];
}

/** Every request of a tool uses this client. Model servers and channels are the person's own choice and keep their own clients. */
export function createWebDeps(config: Config['web'], safety: SafetyChecks, secrets: Secrets): WebDeps {
  const { timeoutMs, bytesMax, search } = config;
  const quick = Math.min(timeoutMs, 10_000);
  const limits = { connectMs: quick, headersMs: timeoutMs, idleMs: Math.min(timeoutMs, 15_000), totalMs: timeoutMs, bytesMax };
  const http = new GuardedFetch({ judge: safety, limits });
  const searchHttp = search?.baseUrl === undefined ? http : new GuardedFetch({ judge: new OneOriginCheck(search.baseUrl), limits });
  return { http, searchHttp, secrets, config, redact: (text) => safety.redact(text).text };
}

// The web_fetch tool: fetches one page as readable text. Uses GET and sends no data.

const input = z.strictObject({
  url: z.string().min(1).max(URL_CHARS_MAX).describe('The full URL, starting with http:// or https://.'),
  maxChars: z
    .number()
    .int()
    .min(200)
    .max(200_000)
    .default(20_000)
    .describe('Characters of the text to return; the whole text is kept as an artifact.'),
  raw: z.boolean().optional().describe('Return the source instead of readable text.'),
});

const accept = 'text/html, application/xhtml+xml, application/json;q=0.9, text/*;q=0.9, */*;q=0.5';

function createWebFetch(deps: WebToolDeps): ToolDefinition {
  const { http, timeoutMs, outputBytesMax } = deps;
  return defineTool({
    name: 'web_fetch',
    description:
      'Fetch a web page as Markdown, or a document (PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF) as text. JSON and plain text are returned as is; pictures and other files are kept as artifacts.',
    input,
    class: 'network',
    shows: { verb: 'fetch', target: ['url'] },
    idempotency: () => 'pure',
    timeoutMs,
    facts: (args) => requestFacts(http, { method: 'GET', url: args.url, reads: true }),
    summarize: (args) => `read ${shownUrl(args.url)}`,
    async run(args, context): Promise<ToolResult> {
      // A redirect to a host that the person listed needs no approval, as if the call had named it.
      const request = {
        url: args.url,
        headers: { accept },
        mayFollow: (hop: Parameters<typeof staysOnHost>[0] & { isListed: boolean }) => staysOnHost(hop) || hop.isListed,
      };
      const answer = await http.fetch(request, context.signal);
      const untrusted = webSources(answer.hosts);
      if (answer.redirectTo !== null) return { forModel: describeStop('web_fetch', answer, answer.redirectTo), untrusted };
      const options = {
        raw: args.raw === true ? ('all' as const) : ('none' as const),
        charsMax: args.maxChars,
        bytesMax: outputBytesMax,
        scrub: (text: string) => text,
      };
      const content = await presentBody(answer, options, context);
      const isError = answer.status >= 400;
      const head = `${shownUrl(answer.url)}${isError || answer.status !== 200 ? ` (the server answered ${answer.status})` : ''}`;
      const lines = [
        head,
        ...content.notes.map((note) => `[${note}]`),
        content.text === '' && content.notes.length === 0 ? '(nothing came)' : content.text,
      ];
      return { forModel: lines.filter((line) => line !== '').join('\n'), isError, untrusted, artifacts: content.artifacts };
    },
  });
}
