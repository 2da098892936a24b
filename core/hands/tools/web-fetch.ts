// The web_fetch tool: fetches one page as readable text. Uses GET and sends no data.

import * as z from 'zod';
import { staysOnHost } from '../../guard/egress/egress.ts';
import type { ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import { defineTool } from './define-tool.ts';
import { presentBody } from './web-content.ts';
import { describeStop, requestFacts, shownUrl, URL_CHARS_MAX, webSources, type WebToolDeps } from './web-tool-ports.ts';

const input = z.strictObject({
  url: z.string().min(1).max(URL_CHARS_MAX).describe('The whole address, with http:// or https://.'),
  maxChars: z
    .number()
    .int()
    .min(200)
    .max(200_000)
    .default(20_000)
    .describe('How much of the text to show; the whole is kept as an artifact.'),
  raw: z.boolean().optional().describe('True shows the source instead of readable text.'),
});

const accept = 'text/html, application/xhtml+xml, application/json;q=0.9, text/*;q=0.9, */*;q=0.5';

export function createWebFetch(deps: WebToolDeps): ToolDefinition {
  const { http, timeoutMs, outputBytesMax } = deps;
  return defineTool({
    name: 'web_fetch',
    description:
      'Read a page of the web as Markdown, or a document (PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF) as text. JSON and text come as they are; pictures and other files are kept as artifacts.',
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
