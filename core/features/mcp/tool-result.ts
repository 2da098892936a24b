// Converts the result of a server's tool to a result of the gate: text, structured values, pictures and files, all bounded. Content that is
// not text becomes artifacts, with names that the server does not choose. Everything is untrusted.

import type { CallToolResult, ContentBlock, Progress } from '@modelcontextprotocol/client';
import type { ArtifactRef, ToolContext, ToolResult } from '../../contracts/tools.ts';
import { shown } from './tool-pins.ts';

type Keeping = Pick<ToolContext, 'artifacts' | 'callId' | 'sessionId'>;

const BLOCKS_MAX = 200;
const TEXT_CHARS_MAX = 8_000_000;
const FILES_MAX = 8;
const FILE_CHARS_MAX = 14_000_000;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9.+-]{0,60}\/[a-z0-9][a-z0-9.+-]{0,60}$/;

export function toToolResult(server: string, result: CallToolResult, context: Keeping): ToolResult {
  const reader = new ContentReader(server, context);
  const blocks = Array.isArray(result.content) ? result.content : [];
  for (const block of blocks.slice(0, BLOCKS_MAX)) reader.take(block);
  if (blocks.length > BLOCKS_MAX) reader.say(`(${blocks.length - BLOCKS_MAX} more parts were left out)`);
  const { structuredContent } = result;
  // Servers repeat structured content as text for older clients. Then the text is enough.
  if (structuredContent !== undefined && !reader.hasText) reader.say(JSON.stringify(structuredContent));
  return {
    forModel: reader.text,
    isError: result.isError === true,
    untrusted: [{ kind: 'mcp', where: server }],
    ...(reader.artifacts.length === 0 ? {} : { artifacts: reader.artifacts }),
  };
}

export class ContentReader {
  readonly artifacts: ArtifactRef[] = [];
  readonly #server: string;
  readonly #context: Keeping;
  readonly #parts: string[] = [];
  #chars = 0;
  hasText = false;

  constructor(server: string, context: Keeping) {
    this.#server = server;
    this.#context = context;
  }

  get text(): string {
    return this.#parts.join('\n');
  }

  say(text: string): void {
    const room = TEXT_CHARS_MAX - this.#chars;
    if (room <= 0) return;
    this.#chars += text.length;
    this.#parts.push(text.length > room ? `${text.slice(0, room)}\n(the rest was left out)` : text);
  }

  take(block: ContentBlock): void {
    switch (block.type) {
      case 'text':
        this.hasText = true;
        this.say(block.text);
        break;
      case 'image':
      case 'audio':
        this.#file(block.data, block.mimeType);
        break;
      case 'resource':
        this.takeContents(block.resource);
        break;
      case 'resource_link':
        this.say(`(a resource of ${this.#server}: ${shown(block.name, 200)}, ${shown(block.uri, 1000)})`);
        break;
      default:
        this.say('(a part of a kind that is not known)');
    }
  }

  takeContents(resource: {
    readonly uri: string;
    readonly mimeType?: string | undefined;
    readonly text?: string;
    readonly blob?: string;
  }): void {
    if (typeof resource.text === 'string') {
      this.hasText = true;
      this.say(resource.text);
    } else if (typeof resource.blob === 'string') this.#file(resource.blob, resource.mimeType ?? '');
  }

  #file(base64: string, given: string): void {
    const mediaType = MEDIA_TYPE.test(given.toLowerCase()) ? given.toLowerCase() : 'application/octet-stream';
    if (this.artifacts.length >= FILES_MAX || base64.length > FILE_CHARS_MAX) {
      this.say(
        `(a file of the type ${mediaType} was left out: ${this.artifacts.length >= FILES_MAX ? 'there are too many' : 'it is too large'})`,
      );
      return;
    }
    const { artifacts, callId, sessionId } = this.#context;
    const name = `${this.#server}-${callId.slice(-8)}-${this.artifacts.length + 1}.${extensionOf(mediaType)}`;
    const ref = artifacts.put(Buffer.from(base64, 'base64'), { name, mediaType, callId, sessionId });
    this.artifacts.push(ref);
    this.say(`(a file of the type ${mediaType}, kept as the artifact ${ref.name})`);
  }
}

/** One line of output about the progress, for the person. */
export function progressLine({ progress, total, message }: Progress): string {
  const share = total === undefined ? String(progress) : `${progress} of ${total}`;
  return `${share}${message === undefined ? '' : ` ${shown(message, 300)}`}\n`;
}

const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'application/pdf': 'pdf',
};

function extensionOf(mediaType: string): string {
  return extensions[mediaType] ?? 'bin';
}
