// The parts of the window's benchmark that run inside the page. They are source text, because these files are checked without browser
// types.

/** Clicks the session with that title; resolves to the milliseconds until the frame after its text appears. */
export function openSessionSource(title: string, text: string): string {
  return `new Promise((resolve) => {
    const link = [...document.querySelectorAll('[aria-label="Sessions"] a')].find((a) => a.textContent.includes(${JSON.stringify(title)}));
    const startMs = performance.now();
    const look = () => {
      const isThere = [...document.querySelectorAll('[role="log"] p')].some((p) => p.textContent === ${JSON.stringify(text)});
      if (isThere) requestAnimationFrame(() => resolve(performance.now() - startMs));
      else requestAnimationFrame(look);
    };
    link.click();
    requestAnimationFrame(look);
  })`;
}

/** Scrolls the conversation up like a fast wheel for the given number of frames; resolves to the time each frame took and the distance. */
export function scrollSource(frames: number): string {
  return `new Promise((resolve) => {
    const region = document.querySelector('[role="log"]');
    const deltas = [];
    let travelledPx = 0;
    let beforeMs = performance.now();
    const step = (nowMs) => {
      deltas.push(nowMs - beforeMs);
      beforeMs = nowMs;
      if (deltas.length > ${frames}) return resolve({ deltas: deltas.slice(2), travelledPx });
      const top = region.scrollTop;
      region.scrollTop = top - 120;
      travelledPx += top - region.scrollTop;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`;
}

/** Makes the page record, for each key, the time from the press to the end of the frame that shows it. */
export function watchTypingSource(): string {
  return `{
    window.typedMs = [];
    document.addEventListener('keydown', ({ timeStamp }) => {
      requestAnimationFrame(() => {
        const painted = new MessageChannel();
        painted.port1.onmessage = () => {
          painted.port1.close();
          window.typedMs.push(performance.now() - timeStamp);
        };
        painted.port2.postMessage(null);
      });
    }, { capture: true });
  }`;
}

export function takeTypedSource(): string {
  return 'window.typedMs';
}
