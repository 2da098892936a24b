// Parses the parts that the APIs have in common: content in parts, images, tools, and errors that name the field.

import * as z from 'zod';
import { knownMediaType, pictureTypes } from '../../base/media-type.ts';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { AppError } from '../../contracts/errors.ts';
import { TOOLS_MAX, type ChatImage, type ToolSchema } from '../../contracts/llm.ts';

export function refuse(param: string, why: string): AppError {
  return new AppError('invalid_params', why, { data: { param } });
}

/** Fails with `invalid_params`, which names the first invalid field. */
export function readBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const issue = first === undefined ? undefined : closest(first);
  const param = (issue?.path ?? [])
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`))
    .join('');
  const [said = 'the body is not what this address takes'] =
    issue === undefined ? [] : describeIssues([issue], { given: body, whole: 'the body' });
  throw refuse(param, `The request is not valid: ${said}.`);
}

/** Of the forms a value may have, what does not fit in the one it comes closest to: the one that was read furthest. */
function closest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  const forms = issue.code === 'invalid_union' ? issue.errors.flatMap(([first]) => (first === undefined ? [] : [closest(first)])) : [];
  const [best] = forms.toSorted((a, b) => b.path.length - a.path.length);
  return best === undefined ? issue : { ...best, path: [...issue.path, ...best.path] };
}

export interface Content {
  readonly text: string;
  readonly images: readonly ChatImage[];
}

const IMAGES_MAX = 20;
const IMAGE_BYTES_MAX = 8_000_000;

/** Accepts only images that are part of the request; the door fetches no address for a client. */
export function readImage(url: string, param: string, at: number): ChatImage {
  const [, mediaType = '', base64 = ''] = /^data:(image\/[a-z]+);base64,([A-Za-z0-9+/]+={0,2})$/.exec(url) ?? [];
  if (!pictureTypes.has(mediaType)) throw refuse(param, 'An image must be a data: URL with a PNG, JPEG, GIF or WebP in base64.');
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > IMAGE_BYTES_MAX) throw refuse(param, `An image may have up to ${IMAGE_BYTES_MAX} bytes.`);
  // Vendors reject data that is not an image.
  if (knownMediaType(bytes) !== mediaType) throw refuse(param, `This is no ${mediaType}.`);
  return { name: `image-${at + 1}.${mediaType.slice('image/'.length)}`, mediaType, base64 };
}

export function joinContent(texts: readonly string[], images: readonly ChatImage[], param: string): Content {
  if (images.length > IMAGES_MAX) throw refuse(param, `A message may have up to ${IMAGES_MAX} images.`);
  return { text: texts.join('\n'), images };
}

/** Not every model server takes stop words, and an answer that ignores them is another one. */
export const stopWords = z
  .union([z.literal('', 'stop words are not passed on'), z.array(z.string()).max(0, 'stop words are not passed on')])
  .nullish();

export const schemaObject = z.record(z.string(), z.unknown());

export const toolSchema = z.looseObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be up to 64 letters, digits, _ and -'),
  description: z.string().nullish(),
  parameters: schemaObject.nullish(),
});

export function toolsOf(given: readonly z.infer<typeof toolSchema>[], choice: unknown): ToolSchema[] {
  if (given.length > TOOLS_MAX) throw refuse('tools', `A request may name up to ${TOOLS_MAX} tools.`);
  if (new Set(given.map(({ name }) => name)).size < given.length) throw refuse('tools', 'Two tools have the same name.');
  if (choice === 'none') return [];
  if (choice !== undefined && choice !== null && choice !== 'auto')
    throw refuse('tool_choice', 'Only "auto" and "none" can be passed on to every model server.');
  return given.map(({ name, description, parameters }) => ({
    name,
    description: description ?? '',
    parameters: parameters ?? { type: 'object', properties: {} },
  }));
}
