// Keeps a scrolled region at its end while it grows, but only if the person is at the end. Never moves text that is being read.

export interface EndWatch {
  /** False while there is nothing to follow; the region then stays where it is. */
  isFollowing(): boolean;
  /** Called when the region reaches or leaves its end. */
  onChange(atEnd: boolean): void;
}

const nearEndPx = 48;

/** Follows `content` inside `region`; returns the function that ends it and one that jumps to the end. */
export function stickToEnd(region: HTMLElement, content: HTMLElement, watch: EndWatch): { toEnd(): void; stop(): void } {
  let atEnd = true;
  let lastTop = 0;
  const toEnd = (): void => {
    region.scrollTop = region.scrollHeight;
    lastTop = region.scrollTop;
  };
  const onScroll = (): void => {
    const isNear = region.scrollHeight - region.scrollTop - region.clientHeight < nearEndPx;
    // Only a move upwards leaves the end: what grows above or around moves the region down, and is followed.
    const now = isNear || (atEnd && region.scrollTop >= lastTop);
    lastTop = region.scrollTop;
    if (now !== atEnd) watch.onChange(now);
    atEnd = now;
  };
  const observer = new ResizeObserver(() => {
    if (!watch.isFollowing()) return;
    if (atEnd) toEnd();
    else onScroll();
  });
  observer.observe(content);
  observer.observe(region);
  region.addEventListener('scroll', onScroll, { passive: true });
  if (watch.isFollowing()) toEnd();
  return {
    toEnd,
    stop: () => {
      observer.disconnect();
      region.removeEventListener('scroll', onScroll);
    },
  };
}
