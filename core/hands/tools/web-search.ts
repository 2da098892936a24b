// The web_search tool: queries the one service that the person chose. There is no default, because a query reveals something to the
// service.

import { counted } from '../../base/counted.ts';
import * as z from 'zod';
import type { ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import type { FetchAnswer } from '../../guard/egress/egress.ts';
import { defineTool } from './define-tool.ts';
import type { SecretValues } from './http-request-headers.ts';
import { fenceText } from './web-fence.ts';
import { failed, searchEngines, type SearchConfig, type SearchResult } from './web-search-engines.ts';
import { requestFacts, webSources, type WebToolDeps } from './web-tool-ports.ts';

const QUERY_CHARS_MAX = 400;

const input = z.strictObject({
  query: z.string().trim().min(1).max(QUERY_CHARS_MAX),
  count: z.number().int().min(1).max(20).default(8).describe('Maximum number of results.'),
});

export interface WebSearchDeps extends WebToolDeps {
  readonly search: SearchConfig;
  readonly secrets: SecretValues;
}

export function createWebSearch(deps: WebSearchDeps): ToolDefinition {
  const { search, http } = deps;
  const engine = searchEngines[search.provider];
  const base = (search.baseUrl ?? engine.defaultUrl).replace(/\/+$/, '');
  return defineTool({
    name: 'web_search',
    description: `Search the web with ${engine.name}. Returns titles, URLs and excerpts; use web_fetch to read a page.`,
    input,
    class: 'network',
    shows: { verb: 'search_web', target: ['query'] },
    idempotency: () => 'pure',
    timeoutMs: deps.timeoutMs,
    facts: (args) => {
      const { method, url } = engine.request(base, args.query, args.count);
      return requestFacts(http, { method, url, reads: true });
    },
    summarize: (args) => `search the web with ${engine.name} for ${JSON.stringify(args.query)}`,
    async run(args, context): Promise<ToolResult> {
      const key = 'apiKey' in search ? engine.keyHeader(await deps.secrets.resolve(search.apiKey)) : {};
      const request = engine.request(base, args.query, args.count);
      const answer = await http.fetch(
        { ...request, headers: { ...request.headers, ...key }, mayFollow: (hop) => hop.staysOnOrigin },
        context.signal,
      );
      refuseFailure(answer, engine);
      const results = (await engine.read(answer, context.signal)).filter(isOnWeb).slice(0, args.count);
      return { forModel: present(results, engine.name, args.query), untrusted: webSources(answer.hosts) };
    },
  });
}

function refuseFailure({ status, isCut, redirectTo }: FetchAnswer, { name, statusWords }: (typeof searchEngines)['brave']): void {
  if (redirectTo !== null) throw failed(`${name} leads elsewhere (${status}) and gave no results.`);
  const words = statusWords[status];
  if (words !== undefined) throw failed(`${name} ${words} (${status}).`);
  if (status >= 400) throw failed(`${name} answered ${status} and gave no results.`);
  if (isCut) throw failed(`${name} answered with more than is read.`, 'Raise web.bytesMax in config.yaml.');
}

function isOnWeb({ url }: SearchResult): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function present(results: readonly SearchResult[], name: string, query: string): string {
  if (results.length === 0) return `${name} found nothing for ${JSON.stringify(query)}.`;
  const items = results.map(({ title, url, snippet, publishedAt }, index) =>
    [
      `${index + 1}. ${title === '' ? '(no title)' : title}`,
      new URL(url).href,
      ...(publishedAt === undefined ? [] : [publishedAt]),
      snippet,
    ]
      .filter((line) => line !== '')
      .join('\n   '),
  );
  return `${counted(results.length, 'result')} from ${name} for ${JSON.stringify(query)}:\n${fenceText(items.join('\n'), `the sites ${name} found`)}`;
}
