// For tests of the browser: small tasks on pages, each with a solution that reads only the tool's output. The page says DONE if the task
// was done correctly.

export interface BrowserTask {
  readonly title: string;
  readonly page: string;
  readonly more?: Readonly<Record<string, string>>;
  /** Returns the next call from the tool's last output; null when done. Throws if the output does not contain enough. */
  readonly steps: readonly ((said: string, ref: (role: string, words?: string) => string) => Readonly<Record<string, unknown>>)[];
}

const done = "document.title='DONE'";
const names = ['Apple', 'Birch', 'Cedar', 'Daisy', 'Elder', 'Fern', 'Grape', 'Hazel', 'Iris', 'Juniper'];
type Make = (name: string, at: number) => Omit<BrowserTask, 'title'>;
const click =
  (role: string, words: string): BrowserTask['steps'][number] =>
  (_said, ref) => ({ action: 'click', ref: ref(role, words) });
const type =
  (words: string, text: string, more = {}): BrowserTask['steps'][number] =>
  (_said, ref) => ({ action: 'type', ref: ref('textbox', words), text, ...more });
const all = (tag: (name: string) => string): string => names.map(tag).join('');

export const taskKinds: Readonly<Record<string, Make>> = {
  'press one of ten buttons': (name) => ({
    page: all((one) => `<button onclick="${one === name ? done : "document.title='wrong'"}">${one}</button>`),
    steps: [click('button', name)],
  }),
  'follow one of ten links': (name) => ({
    page: all((one) => `<a href="/${one}">${one}</a> `),
    more: { [`/${name}`]: '<title>DONE</title>' },
    steps: [click('link', name)],
  }),
  'words that act like links': (name) => ({
    page: all((one) => `<span style="cursor:pointer" onclick="${one === name ? done : ''}">${one}</span> `),
    steps: [click('clickable', name)],
  }),
  'type a word and press a button': (name) => ({
    page: `<input aria-label="Word"><button onclick="if(document.querySelector('input').value==='${name}')${done}">Check</button>`,
    steps: [type('Word', name), click('button', 'Check')],
  }),
  'choose from a list': (name) => ({
    page: `<select aria-label="Tree" onchange="if(this.value==='${name}')${done}">${all((one) => `<option>${one}</option>`)}</select>`,
    steps: [(_said, ref) => ({ action: 'select', ref: ref('combobox', 'Tree'), values: [name] })],
  }),
  'tick a box and go on': (name) => ({
    page:
      all((one) => `<label><input type="checkbox" id="${one}">${one}</label>`) +
      `<button onclick="if([...document.querySelectorAll(':checked')].map(b=>b.id).join()==='${name}')${done}">Next</button>`,
    steps: [click('checkbox', name), click('button', 'Next')],
  }),
  'choose one of many': (name) => ({
    page: all((one) => `<label><input type="radio" name="r" onchange="${one === name ? done : ''}">${one}</label>`),
    steps: [click('radio', name)],
  }),
  search: (name) => ({
    page: '<form role="search" action="/find"><input type="text" name="q" aria-label="Search words"></form>',
    more: { [`/find?q=${name}`]: '<title>DONE</title>' },
    steps: [type('Search words', name, { submit: true })],
  }),
  'open a tab of a panel': (name) => ({
    page: `<div role="tablist">${all((one) => `<button role="tab" onclick="p.innerHTML='<button onclick=&quot;${one === name ? done.replaceAll("'", String.raw`\'`) : ''}&quot;>Take it</button>'">${one}</button>`)}</div><div id="p"></div>`,
    steps: [click('tab', name), click('button', 'Take it')],
  }),
  'unfold a section': (name) => ({
    page: all((one) => `<details><summary>${one}</summary><button onclick="${one === name ? done : ''}">Inside ${one}</button></details>`),
    steps: [click('generic|group|button', name), click('button', `Inside ${name}`)],
  }),
  'close a dialog': (name) => ({
    page: `<dialog open><p>${name}</p><button onclick="this.closest('dialog').close();${done}">Close ${name}</button></dialog>`,
    steps: [click('button', `Close ${name}`)],
  }),
  'a button in a frame': (name) => ({
    page: `<iframe srcdoc="<button onclick=&quot;top.${done}&quot;>${name}</button>"></iframe>`,
    steps: [click('button', name)],
  }),
  'a button in a shadow root': (name) => ({
    page: `<div id="h"></div><script>h.attachShadow({mode:'open'}).innerHTML='<button>${name}</button>';h.shadowRoot.firstChild.onclick=()=>{${done}}</script>`,
    steps: [click('button', name)],
  }),
  'a list that follows what is typed': (name) => ({
    page: `<input aria-label="Tree" oninput="l.innerHTML=['${names.join("','")}'].filter(n=>n.startsWith(this.value)).map(n=>'<li><button onclick=&quot;if(\\''+n+'\\'===\\'${name}\\')${done.replaceAll("'", "\\'")}&quot;>'+n+'</button>').join('')"><ul id="l"></ul>`,
    steps: [type('Tree', name.slice(0, 2)), click('button', name)],
  }),
  'what comes later': (name) => ({
    page: `<button onclick="setTimeout(()=>{b.innerHTML='<button onclick=&quot;${done.replaceAll("'", "\\'")}&quot;>${name}</button>'},300)">Load</button><div id="b"></div>`,
    steps: [click('button', 'Load'), () => ({ action: 'wait', text: name }), () => ({ action: 'snapshot' }), click('button', name)],
  }),
  'read one page and write on another': (name) => ({
    page: `<p>The word is ${name}.</p><a href="/two">On</a>`,
    more: { '/two': `<input aria-label="The word" oninput="if(this.value==='${name}')${done}">` },
    steps: [click('link', 'On'), type('The word', name)],
  }),
  'a key': (name, at) => ({
    page: `<input aria-label="Count" value="0" onkeydown="if(event.key==='ArrowUp'&&++this.dataset.n===${(at % 3) + 1})${done}" data-n="0"><p>${name}`,
    steps: Array.from({ length: (at % 3) + 1 }, () => (_said: string, ref: (role: string, words?: string) => string) => ({
      action: 'press',
      key: 'ArrowUp',
      ref: ref('textbox', 'Count'),
    })),
  }),
};

/** The requested number of tasks, each kind with different words. */
export function browserTasks(count: number): BrowserTask[] {
  const kinds = Object.entries(taskKinds);
  return Array.from({ length: count }, (_, at) => {
    const [title = '', make] = kinds[at % kinds.length] ?? [];
    const round = Math.floor(at / kinds.length);
    const name = names[(at * 3 + round) % names.length] ?? 'Apple';
    return { title: `${title}: ${name}`, ...(make?.(name, at) ?? { page: '', steps: [] }) };
  });
}
