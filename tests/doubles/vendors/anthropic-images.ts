// Anthropic's limits on image dimensions, read from the header of a PNG; other formats pass. Sources: the vendor's vision guide, public
// issues.

import { isPlainObject } from '../../../core/base/json.ts';
import { anthropicNo } from './anthropic-words.ts';
import { text, type Part } from './refused.ts';

const SIDE_MAX = 8000;
/** The limit for requests with more than FEW_IMAGES images. */
const SIDE_OF_MANY_MAX = 2000;
const FEW_IMAGES = 20;

export function checkSides(blocks: readonly Part[]): void {
  const images = blocks.filter(({ type }) => type === 'image');
  const sides = images.map(({ source }) => pngSide(isPlainObject(source) ? text(source['data']) : ''));
  if (sides.some((side) => side > SIDE_MAX)) throw anthropicNo('At least one of the image dimensions exceed max allowed size: 8000 pixels');
  const isMany = images.length > FEW_IMAGES;
  if (isMany && sides.some((side) => side > SIDE_OF_MANY_MAX)) throw anthropicNo('At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels'); // prettier-ignore
}

function pngSide(base64: string): number {
  const head = Buffer.from(base64.slice(0, 44), 'base64');
  return head.length >= 24 && head.toString('latin1', 1, 4) === 'PNG' ? Math.max(head.readUInt32BE(16), head.readUInt32BE(20)) : 0;
}
