// The picture that a person sees before an action with an effect: the page with the element marked. It is taken with the snapshot, because
// computing the facts of a call must not touch the page.

import type { Page } from 'playwright-core';
import type { CallFacts, ToolContext } from '../../contracts/tools.ts';
import { judgeElement } from './judge-action.ts';
import { locate, type PageView } from './page-view.ts';

type Picture = NonNullable<CallFacts['picture']>;

const HEIGHT_MAX = 3000;
const MARKED_MAX = 60;
const QUALITY = 55;
const TAKE_MS = 5_000;

/** Pictures by ref, for every element whose action would ask. Empty if there are none, or if no picture can be taken. */
export async function takePictures(page: Page, view: PageView, context: ToolContext): Promise<ReadonlyMap<string, Picture>> {
  const refs = askingRefs(view).slice(0, MARKED_MAX);
  if (refs.length === 0) return new Map();
  try {
    const size = await page.evaluate<{ width: number; height: number; x: number; y: number }>(pageSize);
    const shown = { width: Math.ceil(size.width), height: Math.ceil(Math.min(size.height, HEIGHT_MAX)) };
    const bytes = await page.screenshot({
      type: 'jpeg',
      quality: QUALITY,
      scale: 'css',
      fullPage: true,
      clip: { x: 0, y: 0, ...shown },
      timeout: TAKE_MS,
    });
    const { callId, sessionId, artifacts } = context;
    const kept = artifacts.put(bytes, { name: 'page-to-approve.jpg', mediaType: 'image/jpeg', callId, sessionId });
    // The known box of an element in a frame is relative to the frame, so its box on the page is looked up.
    const boxes = await Promise.all(
      refs.map(async (ref) =>
        ref.startsWith('f')
          ? locate(page, ref)
              .boundingBox({ timeout: 1000 })
              .catch(() => null)
          : view.elements.get(ref)?.form?.box,
      ),
    );
    return new Map(
      refs.flatMap((ref, at): [string, Picture][] => {
        const box = boxes[at] ?? null;
        if (box === null || box.y + size.y > shown.height) return [];
        return [[ref, { ...kept, ...shown, mark: { ...box, x: box.x + size.x, y: box.y + size.y } }]];
      }),
    );
  } catch {
    // The page is gone or keeps changing. The approval is shown without a picture.
    return new Map();
  }
}

const pageSize = '({ width: innerWidth, height: Math.max(innerHeight, document.documentElement.scrollHeight), x: scrollX, y: scrollY })';

function askingRefs(view: PageView): string[] {
  return [...view.elements].flatMap(([ref, { form }]) => {
    if (form === null) return [];
    if (form.type === 'file') return [ref];
    const reads = judgeElement(form, 'click').reads && (!form.isField || judgeElement(form, 'submit').reads);
    return reads ? [] : [ref];
  });
}
