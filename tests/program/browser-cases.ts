// For tests of the browser: pages with effects in many disguises, ways to private addresses, and small tasks. Only data and pages.

export interface EffectCase {
  readonly title: string;
  readonly page: string;
  /** The role and text of the element that the agent uses, and how. */
  readonly acts: readonly [role: string, words: string, action: 'click' | 'enter' | 'type'];
  readonly more?: Readonly<Record<string, string>>;
}

const labels = [
  'Continue',
  'Cancel',
  'OK',
  'Learn more',
  'Show details',
  'Close',
  'Help',
  'Zurück',
  'Pay now',
  'Delete account',
  'Sign in',
  '…',
];

type Kind = (label: string) => Omit<EffectCase, 'title'>;
const post = "fetch('/effect',{method:'POST',body:'x'})";
const button = (label: string): EffectCase['acts'] => ['button', label, 'click'];

/** Each ends in a request to /effect that is not a GET, or a GET of /account/delete. */
export const effectKinds: Readonly<Record<string, Kind>> = {
  'a plain form': (label) => ({ page: `<form method="post" action="/effect"><button>${label}</button></form>`, acts: button(label) }),
  'an input that submits': (label) => ({
    page: `<form method="post" action="/effect"><input type="submit" value="${label}"></form>`,
    acts: button(label),
  }),
  'a button outside its form': (label) => ({
    page: `<form id="f" method="post" action="/effect"></form><button form="f">${label}</button>`,
    acts: button(label),
  }),
  'formmethod on the button': (label) => ({
    page: `<form action="/find"><button formmethod="post" formaction="/effect">${label}</button></form>`,
    acts: button(label),
  }),
  'fetch on click': (label) => ({ page: `<button onclick="${post}">${label}</button>`, acts: button(label) }),
  'fetch on pointer down': (label) => ({ page: `<button onpointerdown="${post}">${label}</button>`, acts: button(label) }),
  'a listener far above': (label) => ({
    page: `<button>${label}</button><script>document.addEventListener('click',()=>{${post}},true)</script>`,
    acts: button(label),
  }),
  XMLHttpRequest: (label) => ({
    page: `<button onclick="x=new XMLHttpRequest();x.open('PUT','/effect');x.send()">${label}</button>`,
    acts: button(label),
  }),
  'a beacon': (label) => ({ page: `<button onclick="navigator.sendBeacon('/effect','x')">${label}</button>`, acts: button(label) }),
  'a later moment': (label) => ({ page: `<button onclick="setTimeout(()=>{${post}},200)">${label}</button>`, acts: button(label) }),
  'submit() of a hidden form': (label) => ({
    page: `<form id="f" method="post" action="/effect" hidden></form><button onclick="f.submit()">${label}</button>`,
    acts: button(label),
  }),
  'requestSubmit() from a link': (label) => ({
    page: `<form id="f" method="post" action="/effect"></form><a href="javascript:f.requestSubmit()">${label}</a>`,
    acts: ['link', label, 'click'],
  }),
  'a label of a hidden submit': (label) => ({
    page: `<form method="post" action="/effect"><p><label for="s" style="cursor:pointer;display:block">${label}</label></p><input id="s" type="submit" style="position:absolute;left:-999px"></form>`,
    acts: ['generic', label, 'click'],
  }),
  'a cover over a submit': (label) => ({
    page: `<form method="post" action="/effect"><button style="position:absolute;inset:0;opacity:0">x</button></form><button style="position:absolute;top:0;left:0">${label}</button>`,
    acts: button(label),
  }),
  'a frame': (label) => ({
    page: `<iframe srcdoc="<form method=post action=http://shop.test.invalid/effect><button>${label}</button></form>"></iframe>`,
    acts: button(label),
  }),
  'a frame in a frame': (label) => ({
    page: `<iframe src="/inner"></iframe>`,
    more: {
      '/inner': `<iframe srcdoc="<button onclick=&quot;fetch('http://shop.test.invalid/effect',{method:'POST',mode:'no-cors'})&quot;>${label}</button>"></iframe>`,
    },
    acts: button(label),
  }),
  'a shadow root': (label) => ({
    page: `<div id="h"></div><script>h.attachShadow({mode:'open'}).innerHTML='<form method=post action=/effect><button>${label}</button></form>'</script>`,
    acts: button(label),
  }),
  'a shadow root with a script': (label) => ({
    page: `<div id="h"></div><script>r=h.attachShadow({mode:'open'});r.innerHTML='<button>${label}</button>';r.querySelector('button').onclick=()=>{${post}}</script>`,
    acts: button(label),
  }),
  'Enter in a field': (label) => ({
    page: `<form method="post" action="/effect"><input aria-label="${label}"></form>`,
    acts: ['textbox', label, 'enter'],
  }),
  'Enter caught by a script': (label) => ({
    page: `<input aria-label="${label}" onkeydown="if(event.key==='Enter'){${post}}">`,
    acts: ['textbox', label, 'enter'],
  }),
  'every key that is typed': (label) => ({ page: `<input aria-label="${label}" oninput="${post}">`, acts: ['textbox', label, 'type'] }),
  'a box that is ticked': (label) => ({
    page: `<label><input type="checkbox" onchange="${post}">${label}</label>`,
    acts: ['checkbox', label, 'click'],
  }),
  'a dialog': (label) => ({
    page: `<dialog open><form method="post" action="/effect"><button>${label}</button></form></dialog>`,
    acts: button(label),
  }),
  'a new tab': (label) => ({
    page: `<form method="post" action="/effect" target="_blank"><button>${label}</button></form>`,
    acts: button(label),
  }),
  'window.open and a form in it': (label) => ({
    page: `<form id="f" method="post" action="/effect" target="w"></form><button onclick="window.open('','w');f.submit()">${label}</button>`,
    acts: button(label),
  }),
  'a page that goes on by itself': (label) => ({
    page: `<a href="/next">${label}</a>`,
    more: { '/next': '<form id="f" method="post" action="/effect"></form><script>f.submit()</script>' },
    acts: ['link', label, 'click'],
  }),
  'a page that fetches by itself': (label) => ({
    page: `<a href="/next">${label}</a>`,
    more: { '/next': `<script>${post}</script>` },
    acts: ['link', label, 'click'],
  }),
  'an address that deletes': (label) => ({
    page: `<button onclick="location='/account/delete?id=1'">${label}</button>`,
    acts: button(label),
  }),
  'a link that deletes': (label) => ({ page: `<a href="/account/delete">${label}</a>`, acts: ['link', label, 'click'] }),
  'a picture that deletes': (label) => ({
    page: `<button onclick="new Image().src='/account/delete'">${label}</button>`,
    acts: button(label),
  }),
  'a form that gets and deletes': (label) => ({
    page: `<form action="/account/delete"><button>${label}</button></form>`,
    acts: button(label),
  }),
  'a page that lies about itself': (label) => ({
    page: `<form method="post" action="/effect"><button>${label}</button></form><script>Element.prototype.getAttribute=()=>'get';Element.prototype.closest=()=>null;Object.defineProperty(HTMLButtonElement.prototype,'form',{get:()=>null})</script>`,
    acts: button(label),
  }),
};

/** Combines every kind with labels; the first cases use different labels, so that a short run covers many. */
export function effectCases(count: number): EffectCase[] {
  const kinds = Object.entries(effectKinds);
  return Array.from({ length: count }, (_, at) => {
    const [title = '', make] = kinds[at % kinds.length] ?? [];
    const label = labels[(at + Math.floor(at / kinds.length) * 5) % labels.length] ?? 'OK';
    return { title: `${title}, "${label}"`, ...(make?.(label) ?? { page: '', acts: button('') }) };
  });
}

/** Pages that try to reach an address, by the method they use. `HOST` is replaced by the address. */
export const waysOut: Readonly<Record<string, string>> = {
  picture: '<img src="http://HOST/a.png">',
  'background picture': '<div style="background:url(http://HOST/a.png)">x</div>',
  fetch: '<script>fetch("http://HOST/",{mode:"no-cors"}).catch(()=>0)</script>',
  XMLHttpRequest: '<script>x=new XMLHttpRequest();x.open("GET","http://HOST/");x.onerror=()=>0;x.send()</script>',
  script: '<script src="http://HOST/a.js"></script>',
  stylesheet: '<link rel="stylesheet" href="http://HOST/a.css">',
  preload:
    '<link rel="preload" as="fetch" href="http://HOST/a"><link rel="prefetch" href="http://HOST/b"><link rel="preconnect" href="http://HOST">',
  frame: '<iframe src="http://HOST/"></iframe>',
  object: '<object data="http://HOST/"></object><embed src="http://HOST/">',
  video: '<video src="http://HOST/a.mp4" autoplay></video><audio src="http://HOST/a.mp3" autoplay></audio>',
  'a redirect of a picture': '<img src="/to?http://HOST/a.png">',
  'a redirect of a fetch': '<script>fetch("/to?http://HOST/",{mode:"no-cors"}).catch(()=>0)</script>',
  'a redirect of a frame': '<iframe src="/to?http://HOST/"></iframe>',
  'a redirect twice': '<img src="/to?http://shop.test.invalid/to?http://HOST/">',
  'a refresh': '<meta http-equiv="refresh" content="0;url=http://HOST/">',
  location: '<script>location="http://HOST/"</script>',
  'window.open': '<script>open("http://HOST/")</script>',
  'a form': '<form id="f" method="post" action="http://HOST/"></form><script>f.submit()</script>',
  beacon: '<script>navigator.sendBeacon("http://HOST/","x")</script>',
  worker: '<script>try{new Worker(URL.createObjectURL(new Blob(["fetch(\'http://HOST/\')"])))}catch{}</script>',
  'shared worker': '<script>try{new SharedWorker("/w.js?http://HOST/")}catch{}</script>',
  'service worker': '<script>ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker,"/w.js").catch(()=>0)</script>',
  WebSocket:
    '<script>try{new WebSocket("ws://HOST/")}catch{}try{f=document.createElement("iframe");document.body.append(f);new f.contentWindow.WebSocket("ws://HOST/")}catch{}</script>',
  'secure WebSocket': '<script>try{new WebSocket("wss://HOST/")}catch{}</script>',
  events: '<script>try{new EventSource("http://HOST/")}catch{}</script>',
  'a peer connection':
    '<script>try{p=new RTCPeerConnection({iceServers:[{urls:"stun:HOST"}]});p.createDataChannel("x");p.createOffer().then(o=>p.setLocalDescription(o))}catch{}</script>',
  'a download': '<a id="a" download href="http://HOST/a.zip">x</a><script>a.click()</script>',
  'a font': '<style>@font-face{font-family:x;src:url(http://HOST/a.woff)}body{font-family:x}</style>x',
  https: '<img src="https://HOST/a.png">',
  'a picture in SVG': '<svg><image href="http://HOST/a.png" /></svg>',
};

export const privatePlaces = [
  '127.0.0.1:PORT',
  'localhost:PORT',
  '[::1]:PORT',
  '10.0.0.7',
  '169.254.169.254',
  '0x7f000001:PORT',
  'inside.test.invalid',
  'turning.test.invalid',
];
