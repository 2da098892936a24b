// Calls back with the page of a frame once it can receive messages.

/** Returns a function that stops waiting. */
export function onceLoaded(frame: HTMLIFrameElement, take: (page: Window) => void): () => void {
  const onLoad = (): void => {
    if (frame.contentWindow !== null) take(frame.contentWindow);
  };
  frame.addEventListener('load', onLoad, { once: true });
  return () => frame.removeEventListener('load', onLoad);
}
