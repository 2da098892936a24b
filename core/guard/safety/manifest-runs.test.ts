import { expect, test } from 'vitest';
import { growth } from '../../../tests/own-clock.ts';
import { inPieces } from '../../../tests/rigs/in-pieces.ts';
import { SafetyChecks } from './safety.ts';

const open = (): SafetyChecks => new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
// Joined at run time so that secret scanners do not report this file.
const weak = ['hunter', '2x'].join('');
const coded = Buffer.from(weak).toString('base64');

const manifests = [
  'apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\nstringData:\n  one: §\n  two: "§"\n',
  "apiVersion: v1\ndata:\n  one: '§'\nkind: Secret\nmetadata:\n  name: db\n",
  'apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    one: §\n  kind: Secret\n  metadata:\n    name: a\n- apiVersion: v1\n  data:\n    one: §\n  kind: Secret\nkind: List\n',
  'apiVersion: v1\nkind: ConfigMap\ndata:\n  a: b\n---\napiVersion: v1\nkind: Secret\ntype: Opaque\nstringData:\n  one: §\n---\nkind: Pod\n',
  '{"apiVersion":"v1","data":{"one":"§","two":"§"},"kind":"Secret","metadata":{"name":"db"}}',
  '{\n  "apiVersion": "v1",\n  "kind": "Secret",\n  "stringData": {\n    "one": "§"\n  }\n}',
];

test.each(manifests.flatMap((form) => [weak, coded].map((secret) => [form, secret] as const)))(
  'redacts what a Secret holds, whole and in any pieces: %j with %s',
  (form, secret) => {
    const text = `${form.replaceAll('§', secret)}\nend\n`;
    const whole = open().redact(text).text;
    expect(whole).not.toContain(secret);
    for (const size of [1, 7, 60]) expect(inPieces(open(), text, size)).toBe(whole);
  },
);

test('a value that is longer than any password is redacted whole', () => {
  const long = Array.from({ length: 60 }, (_, at) => `abcdefgh${at}`).join('-');
  expect(open().redact(`apiVersion: v1\nkind: Secret\nstringData:\n  one: ${long}\n`).text).not.toMatch(/abcdefgh\d/);
});

test.each([
  'apiVersion: v1\nkind: ConfigMap\ndata:\n  one: hello1world\n',
  'apiVersion: v1\nkind: Secret\nmetadata:\n  name: db4711x\n  namespace: shop2024\ntype: kubernetes.io/tls\n',
  'apiVersion: v1\nkind: Secret\ndata:\n  one: ""\n  two: <base64>\n  three: $(ONE)\n  four: {{ .Values.x }}\n',
  'apiVersion: v1\nkind: Secret\n---\napiVersion: v1\nkind: ConfigMap\ndata:\n  one: hello1world\n',
  'apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    one: hello1world\n  kind: ConfigMap\n- apiVersion: v1\n  kind: Secret\nkind: List\n',
  'apiVersion: v1\nkind: SecretStore\ndata:\n  one: hello1world\n',
  'The apiVersion of a "kind": "Secret" is v1, and its data: one hello1world.',
  '{"apiVersion":"v1","kind":"ConfigMap","data":{"one":"hello1world"}}',
])('leaves what is not a secret readable: %j', (text) => {
  expect(open().redact(text)).toEqual({ text, found: [] });
});

test.each([
  ['kinds', 'apiVersion: v1\nkind: Secret\n'.repeat(11_000)],
  ['data', `apiVersion: v1\nkind: Secret\n${'data:\n'.repeat(50_000)}`],
  ['lines of data', `apiVersion: v1\nkind: Secret\ndata:\n${'  a: b1c2d3e4\n'.repeat(21_000)}`],
  ['objects', `apiVersion: v1\n{"kind":"Secret",${'"data":{"a":"b",'.repeat(18_000)}`],
  ['indents', `apiVersion: v1\n${`${' '.repeat(12)}kind: `.repeat(16_000)}`],
  ['a value without an end', `apiVersion: v1\nkind: Secret\ndata:\n${'  a: "'.repeat(50_000)}`],
])('300 KB of %s are read in time', (_, text) => {
  expect(growth(text, (part) => open().redact(part))).toBeLessThan(20);
});
