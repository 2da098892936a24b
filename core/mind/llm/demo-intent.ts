// Classifies a message for the offline demo: a handful of intents by keyword. Pure text processing; calls nothing.

export type DemoIntent =
  | { readonly kind: 'describe_folder'; readonly folder: string; readonly noteFile: string | null }
  | { readonly kind: 'read_file'; readonly file: string }
  | { readonly kind: 'write_file'; readonly file: string; readonly content: string }
  | { readonly kind: 'calculate'; readonly expression: string }
  | { readonly kind: 'search_text'; readonly pattern: string; readonly folder: string | null }
  | { readonly kind: 'find_files'; readonly pattern: string }
  | { readonly kind: 'run_command'; readonly command: string }
  | { readonly kind: 'unknown' };

const QUOTED = /[`"“']([^`"”']+)[`"”']/;
const FILE_NAME = /(?:^|[\s`"'(])((?:[\w.~-]*\/)*[\w-][\w.-]*\.[A-Za-z0-9]{1,8})(?=$|[\s`"'),;:!?]|\.(?:\s|$))/;
const FOLDER_PATH = /(?:^|[\s`"'(])((?:~|\.{1,2})?(?:\/[\w.-]+)+\/?|[\w.-]+\/(?:[\w.-]+\/?)*|\.{1,2}\/?)(?=$|[\s`"'),;:!?])/;
const FOLDER_THEN_NAME = /\b(?:folder|directory)\s+(?:called\s+|named\s+)?[`"']?([\w.-]+)[`"']?/i;
const NAME_THEN_FOLDER = /\b[`"']?([\w.-]+)[`"']?\s+(?:folder|directory)\b/i;
const NOT_FOLDER_NAMES = new Set([
  'this',
  'the',
  'a',
  'my',
  'current',
  'workspace',
  'whole',
  'and',
  'in',
  'of',
  'it',
  'that',
  'is',
  'contents',
]);

export function readDemoIntent(message: string): DemoIntent {
  const text = message.trim();
  return (
    readRun(text) ??
    readWriting(text) ??
    readCalculation(text) ??
    readSearch(text) ??
    readFolder(text) ??
    readFile(text) ?? { kind: 'unknown' }
  );
}

function readRun(text: string): DemoIntent | null {
  const match = /^(?:please\s+|can you\s+)?(?:run|execute)\s+(?:the\s+)?(?:shell\s+)?(?:command\s*:?\s*)?(.+)$/is.exec(text);
  if (match?.[1] === undefined) return null;
  const quoted = /`([^`]+)`/.exec(match[1])?.[1] ?? /^"([^"]+)"\s*[.!]?$/.exec(match[1])?.[1];
  const command = (quoted ?? match[1].replace(/[.!?]\s*$/, '')).trim();
  return command === '' ? null : { kind: 'run_command', command };
}

/** For "Write hello.md with the text: …", the text after the colon or the keyword is the content, unchanged. */
function readWriting(text: string): DemoIntent | null {
  const match =
    /^(?:please\s+)?(?:write|create|make|save)\s+(?:(?:a|the)\s+)?(?:file\s+)?(\S+\.[A-Za-z0-9]{1,8})\s+(?:with|containing|saying|that says)\s+(.+)$/is.exec(
      text,
    );
  const content = match?.[2]?.replace(/^(?:the\s+)?(?:text|words?|content|line)\b\s*:?\s*|^:\s*/i, '');
  if (match?.[1] === undefined || content === undefined || content.trim() === '') return null;
  return { kind: 'write_file', file: match[1].replace(/^[`"']|[`"']$/g, ''), content: `${content.trim()}\n` };
}

function readCalculation(text: string): DemoIntent | null {
  if (!/\b(calc\w*|compute|what(?:'s| is)|how much is|evaluate)\b/i.test(text) && !/^[\d\s().+*/^%-]+=?\??$/.test(text)) return null;
  const spoken = text
    .replace(/×/g, '*')
    .replace(/÷/g, '/')
    .replace(/\btimes\b/gi, '*')
    .replace(/\bplus\b/gi, '+')
    .replace(/\bminus\b/gi, '-');
  const match = /[\d(-][\d\s().,+*/^%-]*[+*/^%-][\d\s().,+*/^%-]*[\d)]/.exec(spoken.replace(/\bdivided by\b/gi, '/'));
  return match === null ? null : { kind: 'calculate', expression: match[0].replace(/,(?=\d{3}\b)/g, '').trim() };
}

function readSearch(text: string): DemoIntent | null {
  const glob = /(?:^|[\s`"'])((?:[\w.-]+\/|\*\*\/)*[\w.-]*\*[\w.*-]*)(?=$|[\s`"',.?!])/.exec(text)?.[1];
  if (glob !== undefined && /\b(find|search|list|which|glob|look for)\b/i.test(text)) return { kind: 'find_files', pattern: glob };
  const match = /\b(?:search|grep|look for|find)\b(?:\s+(?:for|all|every|where|the|text|word|lines? with|occurrences of))*\s+(.+)$/is.exec(
    text,
  );
  if (match?.[1] === undefined) return null;
  const folder = FOLDER_PATH.exec(text)?.[1] ?? null;
  const plain = match[1].replace(/\s+(?:in|inside|under|within)\s+(?:the\s+|my\s+|this\s+)?[\w./~-]+.*$/i, '').replace(/[.!?]\s*$/, '');
  const pattern = (QUOTED.exec(match[1])?.[1] ?? plain).trim();
  return pattern === '' ? null : { kind: 'search_text', pattern, folder };
}

function readFolder(text: string): DemoIntent | null {
  const isAboutFolder = /\b(folders?|director(?:y|ies)|dir|workspace|files|ls)\b/i.test(text);
  const isRequest = /\b(list|describe|show|summari[sz]e|look|what|write|notes?|overview|ls|tell)\b/i.test(text);
  if (!isAboutFolder || !isRequest) return null;
  const file = FILE_NAME.exec(text)?.[1];
  const wantsNotes = /\b(write|save|create|make|put|note(?:s|d)?)\b/i.test(text);
  const folder = readFolderName(text, file);
  const inFolder = (name: string): string => (folder === '.' || name.includes('/') ? name : `${folder}/${name}`);
  return { kind: 'describe_folder', folder, noteFile: wantsNotes ? inFolder(file ?? 'notes.md') : null };
}

function readFolderName(text: string, file: string | undefined): string {
  const path = FOLDER_PATH.exec(file === undefined ? text : text.replace(file, ' '))?.[1];
  if (path !== undefined) return path.length > 1 ? path.replace(/\/$/, '') : path;
  const names = [FOLDER_THEN_NAME.exec(text)?.[1], NAME_THEN_FOLDER.exec(text)?.[1]];
  return names.find((name) => name !== undefined && name !== file && !NOT_FOLDER_NAMES.has(name.toLowerCase())) ?? '.';
}

function readFile(text: string): DemoIntent | null {
  if (!/\b(read|open|show|cat|view|print|display|how (?:big|long|large)|size|first lines?|what(?:'s| is) in|look at)\b/i.test(text))
    return null;
  const file = FILE_NAME.exec(text)?.[1] ?? QUOTED.exec(text)?.[1];
  return file === undefined ? null : { kind: 'read_file', file };
}
