// The search services: builds the request to each and parses its answer. The only place that knows their formats; sends nothing itself.

import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import type { Config } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';
import type { FetchAnswer, FetchRequest } from '../../guard/egress/egress.ts';
import { runPageJob } from './web-page.ts';
import type { PageResult } from './web-results-page.ts';
import { visibleText } from './web-text.ts';

export type SearchConfig = NonNullable<Config['web']['search']>;

export interface SearchResult extends PageResult {
  /** In the service's own format. */
  readonly publishedAt?: string;
}

export interface SearchEngine {
  readonly name: string;
  readonly defaultUrl: string;
  /** Builds the request without the key. */
  request(base: string, query: string, count: number): FetchRequest & { readonly method: string };
  keyHeader(key: string): Readonly<Record<string, string>>;
  /** Error statuses with a special meaning at this service. */
  readonly statusWords: Readonly<Record<number, string>>;
  read(answer: FetchAnswer, signal: AbortSignal): Promise<readonly SearchResult[]> | readonly SearchResult[];
}

const TEXT_CHARS_MAX = 500;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'", '#x27': "'", nbsp: ' ' };

const text = z.string().catch('');
const braveSchema = z.object({
  web: z
    .object({ results: z.array(z.object({ title: text, url: text, description: text, page_age: z.string().optional().catch(undefined) })) })
    .optional(),
});
const tavilySchema = z.object({
  results: z.array(z.object({ title: text, url: text, content: text, published_date: z.string().optional().catch(undefined) })),
});
const searxngSchema = z.object({
  results: z.array(z.object({ title: text, url: text, content: text, publishedDate: z.string().optional().catch(undefined) })),
});

const json = { accept: 'application/json' };

export const searchEngines: Readonly<Record<SearchConfig['provider'], SearchEngine>> = {
  brave: {
    name: 'Brave Search',
    defaultUrl: 'https://api.search.brave.com',
    request: (base, query, count) => ({
      method: 'GET',
      url: `${base}/res/v1/web/search?${new URLSearchParams({ q: query, count: String(count) }).toString()}`,
      headers: json,
    }),
    keyHeader: (key) => ({ 'x-subscription-token': key }),
    statusWords: { 401: 'refused the key', 403: 'refused the key', 422: 'does not take this query', 429: 'has had enough queries for now' },
    read: (answer) =>
      (parse(answer, braveSchema, 'Brave Search').web?.results ?? []).map((one) =>
        resultOf(one.title, one.url, one.description, one.page_age),
      ),
  },
  tavily: {
    name: 'Tavily',
    defaultUrl: 'https://api.tavily.com',
    request: (base, query, count) => ({
      method: 'POST',
      url: `${base}/search`,
      headers: { ...json, 'content-type': 'application/json' },
      body: JSON.stringify({ query, max_results: count, search_depth: 'basic' }),
    }),
    keyHeader: (key) => ({ authorization: `Bearer ${key}` }),
    statusWords: {
      400: 'does not take this query',
      401: 'refused the key',
      429: 'has had enough queries for now',
      432: 'says the plan is used up',
      433: 'says the limit of spending is reached',
    },
    read: (answer) =>
      parse(answer, tavilySchema, 'Tavily').results.map((one) => resultOf(one.title, one.url, one.content, one.published_date)),
  },
  searxng: {
    name: 'SearXNG',
    defaultUrl: '',
    request: (base, query) => ({
      method: 'GET',
      url: `${base}/search?${new URLSearchParams({ q: query, format: 'json' }).toString()}`,
      headers: json,
    }),
    keyHeader: () => ({}),
    statusWords: { 403: 'does not answer in JSON: add json to search.formats in its settings.yml', 429: 'limits how often it is asked' },
    read: (answer) =>
      parse(answer, searxngSchema, 'SearXNG').results.map((one) => resultOf(one.title, one.url, one.content, one.publishedDate)),
  },
  duckduckgo: {
    name: 'DuckDuckGo',
    defaultUrl: 'https://html.duckduckgo.com',
    request: (base, query) => ({
      method: 'GET',
      url: `${base}/html/?${new URLSearchParams({ q: query }).toString()}`,
      headers: { accept: 'text/html' },
    }),
    keyHeader: () => ({}),
    statusWords: {
      403: 'does not answer programs for now',
      418: 'does not answer programs for now',
      429: 'has had enough queries for now',
    },
    read: async (answer, signal) => {
      const page = await runPageJob<'results'>({ kind: 'results', html: answer.body.toString('utf8') }, signal);
      if (page.kind === 'blocked')
        throw failed('DuckDuckGo wants a proof of being human and gave no results.', 'Wait a while, or set another web.search.provider.');
      return page.results.map((one) => resultOf(one.title, one.url, one.snippet));
    },
  },
};

export function failed(message: string, hint?: string): AppError {
  return new AppError('fetch_failed', message, { hint });
}

function parse<T>(answer: FetchAnswer, schema: z.ZodType<T>, name: string): T {
  const body = parseJson(answer.body.toString('utf8'));
  const checked = body.ok ? schema.safeParse(body.value) : null;
  if (checked?.success !== true)
    throw failed(`${name} answered in a form that is not its own.`, 'Check web.search.baseUrl in config.yaml.');
  return checked.data;
}

function resultOf(title: string, url: string, snippet: string, publishedAt?: string): SearchResult {
  return {
    title: plain(title),
    url,
    snippet: plain(snippet),
    ...(publishedAt === undefined ? {} : { publishedAt: plain(publishedAt).slice(0, 40) }),
  };
}

/** Removes HTML, because services mark matches with it. */
function plain(given: string): string {
  const unmarked = given.slice(0, TEXT_CHARS_MAX * 4).replaceAll(/<\/?[a-z][^<>]{0,200}>/gi, '');
  const decoded = unmarked.replaceAll(/&(amp|lt|gt|quot|apos|#39|#x27|nbsp);/g, (_whole, name: string) => ENTITIES[name] ?? '');
  return visibleText(decoded).replaceAll(/\s+/g, ' ').trim().slice(0, TEXT_CHARS_MAX);
}
