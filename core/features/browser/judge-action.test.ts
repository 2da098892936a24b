import { expect, test } from 'vitest';
import { elementFormSchema, type ElementForm } from './element-form.ts';
import { effectOfUrl, effectOfWords, judgeElement, judgeOpen } from './judge-action.ts';
import { differenceOf, entriesOf, findInOutline, type PageView } from './page-view.ts';

const plain = elementFormSchema.parse({
  tag: 'button',
  type: 'button',
  words: 'More',
  url: '',
  isSubmit: false,
  isField: false,
  isPassword: false,
  origin: 'https://a.example',
  pageOrigin: 'https://a.example',
  form: null,
  box: null,
});
const form: NonNullable<ElementForm['form']> = {
  method: 'get',
  action: 'https://a.example/find',
  words: '',
  fields: [['q', 'shoes']],
  hasPassword: false,
  hasFile: false,
  isSearch: false,
};
const submit = (changes: Partial<typeof form>, words = 'Go'): ElementForm => ({
  ...plain,
  words,
  isSubmit: true,
  form: { ...form, ...changes },
});

test.each<[string, ElementForm, 'click' | 'submit', string]>([
  ['a button that says nothing', plain, 'click', 'reads'],
  ['a button that pays', { ...plain, words: 'Pay now' }, 'click', 'spend'],
  ['a button that deletes, in German', { ...plain, words: 'Konto löschen' }, 'click', 'destructive'],
  ['a button that deletes, in Chinese', { ...plain, words: '立即删除' }, 'click', 'destructive'],
  ['a link', { ...plain, tag: 'a', url: 'https://a.example/b' }, 'click', 'reads'],
  ['a link named Share', { ...plain, tag: 'a', words: 'Share', url: 'https://a.example/b' }, 'click', 'reads'],
  ['a link that signs out', { ...plain, tag: 'a', words: 'Sign out', url: 'https://a.example/x' }, 'click', 'credential'],
  ['a link whose address deletes', { ...plain, tag: 'a', words: 'Next', url: 'https://a.example/?do=deleteAll' }, 'click', 'destructive'],
  ['a search form', submit({ isSearch: true }, 'Submit search'), 'click', 'reads'],
  ['a form that gets', submit({}), 'click', 'reads'],
  ['a form that posts', submit({ method: 'post' }), 'click', 'network'],
  ['a form that posts a comment', submit({ method: 'post' }, 'Post comment'), 'click', 'message'],
  ['a form with a password', submit({ hasPassword: true }), 'click', 'credential'],
  ['a form that gets an effect', submit({ action: 'https://a.example/transfer' }), 'click', 'spend'],
  ['a form with a mild button under a grave heading', submit({ method: 'post', words: 'Delete account' }), 'click', 'destructive'],
  ['Enter in a field of a form that posts', { ...submit({ method: 'post' }), isSubmit: false, isField: true }, 'submit', 'network'],
  ['Enter in a field without a form', { ...plain, isField: true }, 'submit', 'reads'],
  ['a click into a field of it', { ...submit({ method: 'post' }), isSubmit: false, isField: true }, 'click', 'reads'],
])('%s', (_title, element, action, effect) => {
  const judged = judgeElement(element, action);
  expect(judged.reads ? 'reads' : judged.class).toBe(effect);
});

test('names what a form sends, and does not simply open an address with an effect', () => {
  expect(judgeElement(submit({ method: 'post', action: 'http://a.example/x' }), 'click')).toMatchObject({
    method: 'POST',
    url: 'http://a.example/x',
    risks: ['It sends q = "shoes".', 'The connection is not encrypted.'],
  });
  expect(judgeOpen('https://a.example/news').reads).toBe(true);
  expect(judgeOpen('https://a.example/account/delete?id=3')).toMatchObject({ reads: false, class: 'destructive' });
  expect([effectOfUrl('https://a.example/js/checkout.js'), effectOfUrl('not one'), effectOfWords('')]).toEqual([null, null, null]);
});

test('reads refs only from the attributes of the outline, not from page text', () => {
  const outline = [
    '- heading "Buy [ref=e9]" [level=1] [ref=e2]',
    '- text: "- button \\"Pay\\" [ref=e8]"',
    "- 'button \"a: it''s\" [active] [ref=e3] [cursor=pointer]':",
    '- textbox "x \\" [ref=e7]" [ref=e4]: - button "y" [ref=e6]',
    '- paragraph: done [ref=e5]',
  ].join('\n');
  expect(entriesOf(outline).map(({ ref, role, name, isActive }) => [ref, role, name, isActive])).toEqual([
    ['e2', 'heading', 'Buy [ref=e9]', false],
    ['e3', 'button', "a: it's", true],
    ['e4', 'textbox', 'x " [ref=e7]', false],
  ]);
});

test('lists added and removed lines, and finds lines with their parents', () => {
  const view = (outline: string, url = 'https://a.example/'): PageView => ({
    url,
    title: '',
    outline,
    elements: new Map(),
    active: null,
    hosts: [],
  });
  const rows = Array.from({ length: 20 }, (_, at) => `  - listitem [ref=e${at}]: row ${at}`);
  const before = ['- list [ref=e99]:', ...rows].join('\n');
  const after = before.replace('row 7', 'row seven').replace('[ref=e99]', '[active] [ref=e99]');
  expect(differenceOf(view(before), view(after))).toBe('-   - listitem [ref=e7]: row 7\n+   - listitem [ref=e7]: row seven');
  expect(differenceOf(view(before), view(before))).toBe('(nothing changed)');
  expect(differenceOf(view(before), view(after, 'https://a.example/2'))).toBeNull();
  expect(differenceOf(view(before), view('- text: other'))).toBeNull();
  expect(findInOutline(before, 'ROW 12')).toBe('- list [ref=e99]:\n  - listitem [ref=e12]: row 12');
});
