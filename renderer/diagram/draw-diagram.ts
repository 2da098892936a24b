// The script of the page that draws one diagram. The page has a separate origin, may load nothing and runs only this script and the bundled
// library. It receives a text over one port and answers with a size; it sends nothing else.

import {
  diagramCharsMax,
  diagramPxMax,
  type DiagramFailure,
  type DiagramLook,
  type DiagramReply,
  type DiagramRequest,
} from './diagram-messages.ts';
import { drawableSource, namesOutside } from './diagram-source.ts';

interface Mermaid {
  initialize(settings: Readonly<Record<string, unknown>>): void;
  render(id: string, source: string, place: Element): Promise<{ readonly svg: string }>;
}

declare const mermaid: Mermaid;

const edgesMax = 400;

/** Colours for different parts, used in turn; text in the surface's colour is readable on each. */
const rowColours = ['accent', 'amber', 'code-function', 'code-keyword', 'code-string', 'code-constant', 'line-strong'] as const;

function settingsOf(look: DiagramLook): Readonly<Record<string, unknown>> {
  const own = {
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    maxTextSize: diagramCharsMax,
    maxEdges: edgesMax,
    theme: 'base',
    htmlLabels: false,
    flowchart: { htmlLabels: false, useMaxWidth: false },
    fontFamily: look.font,
    themeVariables: themeOf(look),
  };
  // Settings that a text may not change.
  return { ...own, secure: ['secure', 'themeCSS', 'altFontFamily', 'dompurifyConfig', 'look', 'handDrawnSeed', ...Object.keys(own)] };
}

function themeOf({ isDark, colours, font, fontPx }: DiagramLook): Readonly<Record<string, unknown>> {
  const { text, surface, sunken, accent } = colours;
  const row = rowColours.map((name) => colours[name]);
  return {
    darkMode: isDark,
    fontFamily: font,
    fontSize: `${fontPx}px`,
    useGradient: false,
    dropShadow: 'none',
    background: sunken,
    primaryColor: colours['accent-soft'],
    primaryTextColor: text,
    primaryBorderColor: accent,
    secondaryColor: colours['amber-soft'],
    secondaryTextColor: text,
    secondaryBorderColor: colours['amber-line'],
    tertiaryColor: surface,
    tertiaryTextColor: text,
    tertiaryBorderColor: colours['line-strong'],
    lineColor: colours['text-2'],
    textColor: text,
    titleColor: text,
    pieTitleTextColor: text,
    pieLegendTextColor: text,
    pieSectionTextColor: surface,
    pieStrokeColor: sunken,
    pieOuterStrokeColor: sunken,
    pieOpacity: '1',
    edgeLabelBackground: sunken,
    clusterBkg: surface,
    clusterBorder: colours['line-strong'],
    noteBkgColor: colours['amber-soft'],
    noteTextColor: text,
    noteBorderColor: colours['amber-line'],
    commitLabelColor: text,
    commitLabelBackground: sunken,
    xyChart: { plotColorPalette: row.join(','), backgroundColor: sunken, ...axesIn(text) },
    ...numbered('pie', row, 1),
    ...numbered('git', row),
    ...numbered(
      'gitBranchLabel',
      row.map(() => surface),
    ),
    ...numbered('cScale', row),
    ...numbered(
      'cScaleLabel',
      row.map(() => surface),
    ),
    ...numbered('fillType', [colours['accent-soft'], colours['amber-soft']]),
    ...numbered('actor', row),
  };
}

function axesIn(colour: string): Readonly<Record<string, string>> {
  const parts = [
    'titleColor',
    'dataLabelColor',
    ...['x', 'y'].flatMap((axis) => ['Label', 'Title', 'Tick', 'Line'].map((part) => `${axis}Axis${part}Color`)),
  ];
  return Object.fromEntries(parts.map((part) => [part, colour]));
}

/** The library numbers the items it distinguishes, up to twelve. */
function numbered(name: string, values: readonly string[], first = 0): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`${name}${at + first}`, values[at % values.length] ?? '']));
}

class Drawing {
  readonly #port: MessagePort;
  #count = 0;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  start(): void {
    this.#port.addEventListener('message', ({ data }: MessageEvent<DiagramRequest>) => void this.#answer(data));
    this.#port.start();
  }

  async #answer(request: DiagramRequest): Promise<void> {
    this.#count += 1;
    const count = this.#count;
    const reply = await this.#draw(request);
    // Sent only if no later text or look has replaced this one.
    if (count === this.#count) this.#port.postMessage(reply);
  }

  async #draw({ source, look }: DiagramRequest): Promise<DiagramReply> {
    if (namesOutside(source)) return failed('outside');
    if (source.length > diagramCharsMax) return failed('large');
    document.documentElement.style.colorScheme = look.isDark ? 'dark' : 'light';
    const place = document.createElement('div');
    document.body.append(place);
    try {
      mermaid.initialize(settingsOf(look));
      const { svg } = await mermaid.render(`diagram-${this.#count}`, drawableSource(source), place);
      place.innerHTML = svg;
    } catch {
      // The library cannot parse it; its error message is not for people.
      place.remove();
      return failed('unreadable');
    }
    return this.#settle(place);
  }

  #settle(place: HTMLElement): DiagramReply {
    const svg = place.querySelector('svg');
    const box = svg?.viewBox.baseVal;
    for (const old of document.body.children) if (old !== place) old.remove();
    if (svg === null || box === undefined || !(box.width > 0) || !(box.height > 0)) return failed('unreadable');
    for (const link of place.querySelectorAll('a')) link.replaceWith(...link.childNodes);
    const [widthPx, heightPx] = [Math.ceil(box.width), Math.ceil(box.height)];
    if (Math.max(widthPx, heightPx) > diagramPxMax) return failed('large');
    svg.removeAttribute('style');
    svg.setAttribute('width', '100%');
    svg.setAttribute('height', '100%');
    return { kind: 'drawn', widthPx, heightPx };
  }
}

function failed(why: DiagramFailure): DiagramReply {
  return { kind: 'failed', why };
}

// Accepts only the first port from the window that embeds this page.
addEventListener('message', function take(event: MessageEvent) {
  const [port] = event.ports;
  if (event.source !== parent || port === undefined) return;
  removeEventListener('message', take);
  new Drawing(port).start();
});
