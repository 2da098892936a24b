// The part of a diagram's text that is drawn: without its settings, and without references to external resources.

import { expect, test } from 'vitest';
import { drawableSource, namesOutside } from './diagram-source.ts';

test.each([
  ['a style that loads', 'graph LR\n A-->B\n style A fill:url(https://outside.invalid/)'],
  ['a style written in escapes', 'graph LR\n A-->B\n classDef x fill:u\\72l(https://outside.invalid/)'],
  ['an image as a node', 'flowchart TD\n A@{ shape: rect, img: "https://outside.invalid/" }'],
  ['an image as a node, over lines', 'flowchart TD\n A@{\n  "img": "https://outside.invalid/"\n }'],
  ['a style sheet', 'graph LR\n A["@import x"]'],
])('%s is refused', (_name, source) => {
  expect(namesOutside(source)).toBe(true);
});

test.each([
  ['links and paths in labels', 'graph LR\n A["https://example.org/a"] --> B["C:\\\\data\\\\abc"]'],
  ['styles', 'graph LR\n A-->B\n style A fill:#f9f,stroke:#333,stroke-width:4px\n classDef x color:red'],
  ['generic types', 'classDiagram\n List~Image~ <|-- Box'],
  ['line breaks', 'graph LR\n A["one<br/>two"]'],
])('%s are drawn', (_name, source) => {
  expect(namesOutside(source)).toBe(false);
});

test('settings in the text are removed, a title stays', () => {
  expect(drawableSource('%%{init: {"securityLevel": "loose"}}%%\ngraph LR\n A-->B')).toBe('\ngraph LR\n A-->B');
  expect(drawableSource('graph LR\n %%{ wrap }%% %%{init: {\n "theme": "x" }\n}%%\n A-->B')).toBe('graph LR\n  \n A-->B');
  expect(drawableSource('graph LR\n A-->B\n%%{init: {"never": "closed"')).toBe('graph LR\n A-->B\n');
  expect(drawableSource('---\nconfig:\n  themeCSS: "*{}"\n---\ngraph LR')).toBe('graph LR');
  expect(drawableSource('---\ntitle: The "way"\nconfig:\n  theme: x\n---\ngraph LR')).toBe('---\ntitle: "The \\"way"\n---\ngraph LR');
});

test('markup in labels is text; line breaks, arrows and words in angle brackets stay', () => {
  expect(drawableSource('graph LR\n A["<img src=x onerror=a()>"] --> B["a<br>b<br/>c</br>d"]')).toBe(
    'graph LR\n A["<\u200bimg src=x onerror=a()>"] --> B["a<br>b<br/>c</br>d"]',
  );
  expect(drawableSource('x["</script><!-- <?php <BR > <bra>"]')).toBe('x["<\u200b/script><\u200b!-- <\u200b?php <BR > <\u200bbra>"]');
  expect(drawableSource('x["#lt;b #60;b &lt;b &#x3c;b #lt; 3"]')).toBe('x["<\u200bb <\u200bb <\u200bb <\u200bb #lt; 3"]');
  const language = 'classDiagram\n class A <<interface>>\n A <|-- B\n A<|..B\n A <--> B\n A<<->>B\n state c <<choice>>';
  expect(drawableSource(language)).toBe(language);
});

test('actions on a press are removed', () => {
  const deeds = [
    'click A "javascript:a()"',
    '  click B call a()',
    'callback A "a"',
    'link A "https://a.example"',
    'links A: {"x": "y"}',
    'link A: x @ y',
    'properties A: {}',
    'details A: b',
  ];
  expect(
    drawableSource(['graph LR', ...deeds, 'A-->B'].join('\n'))
      .split('\n')
      .filter((line) => line !== ''),
  ).toEqual(['graph LR', 'A-->B']);
  const language = 'graph LR\n link --> details\n clicks --> B\n linkStyle 0 stroke:red';
  expect(drawableSource(language)).toBe(language);
});
