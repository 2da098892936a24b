// For tests only: ZIP and tar archives written byte by byte, so that they can be malformed: mismatching names, links, wrong sizes, shared
// bytes.

import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

export interface RawEntry {
  readonly name: string;
  readonly data?: string | Uint8Array;
  /** The name in the entry itself, if it differs from the directory's. */
  readonly localName?: string;
  /** The Unix mode, including the file type. */
  readonly mode?: number;
  readonly crc?: number;
  readonly size?: number;
  readonly flags?: number;
  readonly method?: number;
  /** The offset of another entry whose bytes it shares. */
  readonly at?: number;
}

export function rawZip(entries: readonly RawEntry[], more: { readonly count?: number; readonly after?: string } = {}): Buffer {
  const locals: Buffer[] = [];
  const listed: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { local, list } = entryOf(entry, offset);
    listed.push(list);
    if (entry.at !== undefined) continue;
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(listed);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(more.count ?? entries.length, 8);
  end.writeUInt16LE(more.count ?? entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end, Buffer.from(more.after ?? '')]);
}

function entryOf({ name, localName = name, ...entry }: RawEntry, offset: number): { local: Buffer; list: Buffer } {
  const data = Buffer.from((entry.data ?? '') as string);
  const { method = 8, crc = crc32(data), size = data.length, flags = 0x800, mode = 0o100644, at = offset } = entry;
  const packed = method === 8 ? deflateRawSync(data) : data;
  const common = (bytes: Buffer, from: number, nameBytes: number): void => {
    bytes.writeUInt16LE(20, from);
    bytes.writeUInt16LE(flags, from + 2);
    bytes.writeUInt16LE(method, from + 4);
    bytes.writeUInt32LE(crc, from + 10);
    bytes.writeUInt32LE(packed.length, from + 14);
    bytes.writeUInt32LE(size, from + 18);
    bytes.writeUInt16LE(nameBytes, from + 22);
  };
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  common(local, 4, Buffer.byteLength(localName));
  const list = Buffer.alloc(46);
  list.writeUInt32LE(0x02014b50, 0);
  list.writeUInt16LE((3 << 8) | 20, 4);
  common(list, 6, Buffer.byteLength(name));
  list.writeUInt32LE((mode << 16) >>> 0, 38);
  list.writeUInt32LE(at, 42);
  return { local: Buffer.concat([local, Buffer.from(localName), packed]), list: Buffer.concat([list, Buffer.from(name)]) };
}

export interface RawTarEntry {
  readonly name: string;
  readonly data?: string;
  /** `0` a file, `1` and `2` links, `5` a folder, `x` and `g` PAX headers, `L` a long name. */
  readonly kind?: string;
  readonly link?: string;
  readonly checksum?: number;
}

export function rawTarGz(entries: readonly RawTarEntry[], end = true): Buffer {
  const blocks = entries.flatMap(({ name, data = '', kind = '0', link = '', checksum }) => {
    const header = Buffer.alloc(512);
    const content = Buffer.from(data);
    header.write(name.slice(0, 100), 0);
    header.write('0000644\0', 100);
    header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('        ', 148);
    header.write(kind, 156);
    header.write(link, 157);
    header.write('ustar\u000000', 257);
    const sum = checksum ?? header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
    return [header, content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(end ? 1024 : 0)]));
}

/** One record of a PAX header. */
export function pax(key: string, value: string): string {
  const body = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(body);
  while (String(length).length + Buffer.byteLength(body) !== length) length = String(length).length + Buffer.byteLength(body);
  return `${length}${body}`;
}
