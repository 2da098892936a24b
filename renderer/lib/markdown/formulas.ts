// Formulas as MathML, which every browser draws natively: no fonts, no styles. The library is loaded when the first formula is shown, and
// its output is filtered by an allowlist.

import type { DOMPurify } from 'dompurify';
import type { SafeMarkup } from './sanitize.ts';

const allowed = {
  ALLOWED_TAGS:
    'math mrow mi mo mn ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom menclose msub msup msubsup munder mover munderover mtable mtr mtd'.split(
      ' ',
    ),
  ALLOWED_ATTR:
    'display displaystyle scriptlevel mathvariant mathsize mathcolor stretchy fence separator lspace rspace minsize maxsize symmetric accent accentunder width height depth voffset linethickness columnalign rowspacing columnspacing rowlines columnlines notation movablelimits largeop'.split(
      ' ',
    ),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // Contains the source, which would be read out as well.
  FORBID_CONTENTS: ['annotation'],
  RETURN_TRUSTED_TYPE: true as const,
};

/** Null if the library cannot parse it: its source is shown then. */
export type RenderFormula = (source: string, isBlock: boolean) => SafeMarkup | null;

export interface Formulas {
  /** Rejects if the library cannot be loaded. */
  load(): Promise<RenderFormula>;
}

export function createFormulas(purify: DOMPurify): Formulas {
  let loaded: Promise<RenderFormula> | undefined;
  const load = async (): Promise<RenderFormula> => {
    const { default: katex } = await import('katex');
    return (source, isBlock) => {
      try {
        // No macro in the text may expand without limit, name an address or set a style.
        const limits = { trust: false, strict: 'ignore', maxExpand: 200, maxSize: 20 } as const;
        const markup = katex.renderToString(source, { ...limits, output: 'mathml', displayMode: isBlock, throwOnError: true });
        return purify.sanitize(markup.replaceAll(/ style="[^"]*"/g, ''), allowed);
      } catch {
        // The source is not a valid formula.
        return null;
      }
    };
  };
  return { load: () => (loaded ??= load()) };
}
