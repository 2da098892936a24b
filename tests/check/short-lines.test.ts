// The lines of bundled code: the program and its source map keep their meaning, and what Node prints of an uncaught error stays short.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import { expect, test } from 'vitest';
import { projectRoot } from '../../build/files.mjs';
import { readStamp } from '../../build/freshness.mjs';
import { inShortLines } from '../../build/short-lines.ts';

const body = [
  'function f(a,b=`x,${[1,2].map(c=>(c,c*2))},`){if(a)return a,b;else return(()=>({g:1,"h,":/[,;]/.test(",")}))()}',
  'class K{static s=[1,,3];get v(){return K.s.length}m(...r){for(let i=0,n=r.length;i<n;i++)switch(r[i]){case 1:r[i]=2;break;default:r[i]++}return r}}',
  'let t=`a,\\nb;${f(0)}`;',
  'out.push([f(1),f(0),new K().m(1,2),new K().v,t,K.s]);',
].join('');

test('code means the same', () => {
  const code = `const out=[];${Array.from({ length: 30 }, (_, at) => `{${body}}/*${at}*/`).join('')}`;
  const { code: broken } = inShortLines(code, '');
  const lengths = broken.split('\n').map(({ length }) => length);
  expect(lengths.length).toBeGreaterThan(20);
  expect(Math.max(...lengths)).toBeLessThan(600);
  const meant = (text: string): unknown => JSON.parse(JSON.stringify(runInNewContext(`${text};out`)));
  expect(meant(broken)).toEqual(meant(code));
});

test('source map positions move to the new lines', () => {
  const names = Array.from({ length: 60 }, (_, at) => `name${at}`);
  const line = names.map((name) => `${name}("some words of it");`).join('');
  const at = (name: string): SourceMapSegment => [line.indexOf(`${name}(`), 0, 0, Number(name.slice(4))];
  const { code, mappings } = inShortLines(`first();\n${line}\nlast();`, encode([[[0, 0, 9, 9]], names.map(at), [[0, 0, 8, 8]]]));
  const lines = code.split('\n');
  const moved = decode(mappings);
  expect(moved).toHaveLength(lines.length);
  expect(lines.length).toBeGreaterThan(5);
  const named = lines
    .slice(1, -1)
    .flatMap((text, index) => (moved[index + 1] ?? []).map(([column, , , number]) => [text.slice(column).split('(')[0], number]));
  expect(named).toEqual(names.map((name, number) => [name, number]));
  expect([moved[0], moved.at(-1)]).toEqual([[[0, 0, 9, 9]], [[0, 0, 8, 8]]]);
});

test('leaves code alone that is not ASCII', () => {
  const code = `f("…");${'g();'.repeat(200)}`;
  expect(inShortLines(code, '')).toEqual({ code, mappings: '' });
});

test('a line of the program is short enough to be shown with an error', () => {
  const own = (readStamp(projectRoot)?.files ?? []).filter((path) =>
    /^(?:index|cli|daemon|chunks\/(?:\w+-)*(?:host|commands)-[\w-]{8})\.js$/.test(path),
  );
  const longest = own.map((path) => {
    const lines = readFileSync(join(projectRoot, 'dist', path), 'utf8').split('\n');
    return Math.max(...lines.map(({ length }) => length));
  });
  expect(own.length).toBeGreaterThan(5);
  expect(Math.max(...longest)).toBeLessThan(2_000);
});
