// Sanitises a diagram's text before it is drawn: removes its own settings and actions, turns its markup into text, and refuses a diagram
// that names external resources. The page it is drawn in can load and run nothing anyway; this prevents the attempt.

/** Settings in the text could change how it is drawn, and with what restrictions. */
const settings = /%%\{[\s\S]*?(?:\}%%|$)/g;
const frontMatter = /^\s*---[ \t]*\n([\s\S]*?)\n[ \t]*---[ \t]*(?:\n|$)/;
const title = /^title:[ \t]*([^\n]{1,200})$/m;
const outside = [
  /url\s*\(|image-set\s*\(|\bsrc\s*\(|@import/i,
  // An image as the shape of a node.
  /@\{[^}]*\bimg\s*["']?\s*:/i,
  // Escapes in a style can spell any of these.
  /^\s*(?:style|classDef|linkStyle|cssClass)\b[^\n]*\\/im,
];

export function namesOutside(source: string): boolean {
  return outside.some((pattern) => pattern.test(source));
}

/** Click actions: a picture has none. */
const deeds = /^[ \t]*(?:(?:click|callback)[ \t]+\S|link[ \t]+\S+[ \t]+"|(?:links?|properties|details)[ \t]+[^\n:]+:)[^\n]*$/gim;

/** Line breaks are the only markup allowed in a label; `<<` starts a keyword of the diagram language. */
const markup = /(?<!<)(?:<|[#&]+(?:lt|0*60|x0*3c);?)(?=[a-z/!?])(?!\/?br\s*\/?>)/gi;
/** A `<` that no parser takes for the start of a tag, even after it was serialised and parsed again. */
const bareAngle = '<\u200b';

/** The text as it is drawn. */
export function drawableSource(source: string): string {
  return withoutSettings(source).replaceAll(deeds, '').replaceAll(markup, bareAngle);
}

/** Removes the settings; of the front matter only the title stays. */
function withoutSettings(source: string): string {
  const bare = source.replaceAll(settings, '');
  const front = frontMatter.exec(bare);
  if (front === null) return bare;
  const rest = bare.slice(front[0].length);
  const named = title.exec(front[1] ?? '')?.[1];
  return named === undefined ? rest : `---\ntitle: ${JSON.stringify(named.trim().replaceAll(/^["']|["']$/g, ''))}\n---\n${rest}`;
}
