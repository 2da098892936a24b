// The program decodes East Asian mail with Node's decoder, where the mail package has its own tables. Both must decode the same.

import { createRequire } from 'node:module';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { nodeCharsets } from '../../build/vite.node.ts';

interface Iconv {
  encode(text: string, charset: string): Buffer;
}
interface Codec {
  readonly decoder: new () => { write(bytes: Buffer): string; end(): string };
}

const samples: Readonly<Record<string, string>> = {
  shiftjis: '日本語のメール、カタカナとﾊﾝｶｸ。',
  eucjp: '日本語のメール、カタカナ。',
  cp936: '简体中文邮件，你好。',
  gbk: '简体與繁體，龍。',
  gb18030: '简体中文邮件，你好。',
  cp949: '한국어 메일, 안녕하세요.',
  cp950: '繁體中文郵件，你好。',
  big5hkscs: '廣東話的電郵，在。',
};

test('each charset decodes as in the package, also if a character is split', () => {
  const iconv = createRequire(createRequire(import.meta.url).resolve('imapflow'))('iconv-lite') as Iconv;
  const made: { _dbcs?: new (options: { encodingName: string }) => Codec } = {};
  new Script(nodeCharsets).runInNewContext({ exports: made, TextDecoder });
  const { _dbcs: Made } = made;
  if (Made === undefined) throw new Error('no codec');
  for (const [encodingName, text] of Object.entries(samples)) {
    const decoder = new new Made({ encodingName }).decoder();
    const bytes = [...iconv.encode(text, encodingName)];
    expect([encodingName, bytes.map((byte) => decoder.write(Buffer.of(byte))).join('') + decoder.end()]).toEqual([encodingName, text]);
  }
});
