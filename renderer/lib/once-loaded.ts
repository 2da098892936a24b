// The page of a frame, once it is there to take messages.

/** Returns how to give up waiting. */
export function onceLoaded(frame: HTMLIFrameElement, take: (page: Window) => void): () => void {
  const onLoad = (): void => {
    if (frame.contentWindow !== null) take(frame.contentWindow);
  };
  frame.addEventListener('load', onLoad, { once: true });
  return () => frame.removeEventListener('load', onLoad);
}
