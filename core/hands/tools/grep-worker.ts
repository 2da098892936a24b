// The search thread of grep. Its functions run from their own source text in a worker, so that they need no separate file in a bundle. They
// must not refer to anything outside themselves.

export interface GrepWorkerData {
  readonly pattern: string;
  readonly flags: string;
  readonly contextLines: number;
  /** The number of characters of a line that are matched. */
  readonly lineCharsMax: number;
  /** The number of characters of a line that are reported: its start, or what surrounds a match further on. */
  readonly shownCharsMax: number;
  readonly linesMax: number;
  /** Larger files in UTF-16 are left out, because they are read whole. */
  readonly wideBytesMax: number;
}

export interface GrepLine {
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
  /** The position of the match in the text; 0 in a line of context. */
  readonly at: number;
}

/** `alive` means that a large file is still being read; every file ends with exactly one of the others. */
export type GrepReply =
  | { readonly kind: 'alive' }
  | { readonly kind: 'searched'; readonly file: string; readonly lines: GrepLine[]; readonly more: boolean; readonly cutLines: number }
  | { readonly kind: 'binary' | 'unreadable'; readonly file: string };

export interface LineCollector {
  readonly lines: GrepLine[];
  /** The number of lines that were matched only in part, because they are too long. */
  cutLines(): number;
  isFull(): boolean;
  take(bytes: Buffer, start: number, end: number): void;
}

/** Collects the matching lines of one file and their context lines. */
export function createLineCollector(data: GrepWorkerData, expression: RegExp): LineCollector {
  const lines: GrepLine[] = [];
  let before: GrepLine[] = [];
  let number = 0;
  let after = 0;
  let matched = 0;
  let cut = 0;
  return {
    lines,
    cutLines: () => cut,
    isFull: () => matched >= data.linesMax && after === 0,
    take(bytes, start, end) {
      number += 1;
      const stop = bytes[end - 1] === 13 && end > start ? end - 1 : end;
      const part = bytes.subarray(start, Math.min(stop, start + data.lineCharsMax * 4));
      const utf8 = part.toString('utf8');
      // A line in which no letter beyond ASCII is right is in another encoding, mostly Windows-1252.
      const isOther = utf8.includes('\uFFFD') && !/[^\p{ASCII}\uFFFD]/u.test(utf8);
      const text = isOther ? new TextDecoder('windows-1252').decode(part) : utf8;
      if (text.length > data.lineCharsMax) cut += 1;
      const found = matched < data.linesMax ? expression.exec(text.slice(0, data.lineCharsMax)) : null;
      const isMatch = found !== null;
      const from = Math.max(0, (found?.index ?? 0) - data.shownCharsMax / 2);
      const line: GrepLine = { line: number, text: text.slice(from, from + data.shownCharsMax), isMatch, at: (found?.index ?? 0) - from };
      if (isMatch) {
        matched += 1;
        lines.push(...before, line);
        before = [];
        after = data.contextLines;
      } else if (after > 0) {
        after -= 1;
        lines.push(line);
      } else if (data.contextLines > 0) {
        before.push(line);
        if (before.length > data.contextLines) before.shift();
      }
    },
  };
}

export function grepWorkerMain(createCollector: typeof createLineCollector): void {
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const fs = process.getBuiltinModule('node:fs');
  // In the desktop app, Electron shows *.asar files as folders. This thread reads only files of the person.
  Object.assign(process, { noAsar: true });
  if (parentPort === null) return;
  const port = parentPort;
  const data = workerData as GrepWorkerData;
  const expression = new RegExp(data.pattern, data.flags);
  const chunk = Buffer.alloc(1 << 18);
  const reply = (message: GrepReply): void => port.postMessage(message);

  const isUtf16 = (length: number): boolean => length > 1 && (chunk.readUInt16BE(0) === 0xfffe || chunk.readUInt16BE(0) === 0xfeff);

  const readWide = (handle: number, head: Buffer, collector: LineCollector): boolean => {
    if (fs.fstatSync(handle).size > data.wideBytesMax) return false;
    const encoding = head[0] === 0xff ? 'utf-16le' : 'utf-16be';
    const text = new TextDecoder(encoding).decode(Buffer.concat([head, fs.readFileSync(handle)]));
    for (const line of text.replace(/\n$/, '').split('\n')) {
      const bytes = Buffer.from(line);
      if (!collector.isFull()) collector.take(bytes, 0, bytes.length);
    }
    return true;
  };

  /** Reads chunk by chunk. The start of an unfinished line is carried over, cut to the part that is matched. */
  const readLines = (handle: number, collector: LineCollector): boolean => {
    let carried: Buffer = Buffer.alloc(0);
    for (let first = true; ; first = false) {
      const length = fs.readSync(handle, chunk, 0, chunk.length, null);
      if (first && isUtf16(length)) return readWide(handle, chunk.subarray(0, length), collector);
      if (first && chunk.subarray(0, Math.min(length, 8192)).includes(0)) return false;
      if (length === 0) break;
      if (!first) reply({ kind: 'alive' });
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0 && end < length; end = chunk.indexOf(10, start)) {
        if (carried.length > 0) {
          const whole = Buffer.concat([carried, chunk.subarray(0, end)]);
          collector.take(whole, 0, whole.length);
          carried = Buffer.alloc(0);
        } else {
          collector.take(chunk, start, end);
        }
        start = end + 1;
        if (collector.isFull()) return true;
      }
      if (start < length && carried.length < data.lineCharsMax * 4) carried = Buffer.concat([carried, chunk.subarray(start, length)]);
    }
    if (carried.length > 0) collector.take(carried, 0, carried.length);
    return true;
  };

  const search = (file: string): GrepReply => {
    let handle: number | undefined;
    try {
      handle = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0));
      if (!fs.fstatSync(handle).isFile()) return { kind: 'unreadable', file };
      const collector = createCollector(data, expression);
      if (!readLines(handle, collector)) return { kind: 'binary', file };
      return { kind: 'searched', file, lines: collector.lines, more: collector.isFull(), cutLines: collector.cutLines() };
    } catch {
      // The file is missing or not readable for this user; the main thread counts it.
      return { kind: 'unreadable', file };
    } finally {
      if (handle !== undefined) fs.closeSync(handle);
    }
  };

  port.on('message', (files: string[]) => {
    for (const file of files) reply(search(file));
  });
}
