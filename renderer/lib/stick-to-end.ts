// Keeps a scrolled region at its end while it grows, but only if the person is at the end. Never moves text that is being read.

export interface EndWatch {
  /** False while there is nothing to follow; the region then stays where it is. */
  isFollowing(): boolean;
  /** Called when the region reaches or leaves its end. */
  onChange(atEnd: boolean): void;
}

const nearEndPx = 48;

export interface StuckToEnd {
  /** Jumps to the end. */
  toEnd(): void;
  /** The content has just grown: follows it now. Otherwise it is followed once it is painted, which takes a second frame. */
  follow(): void;
  stop(): void;
}

/** Follows `content` inside `region` until it is stopped. */
export function stickToEnd(region: HTMLElement, content: HTMLElement, watch: EndWatch): StuckToEnd {
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
  const follow = (): void => {
    if (!watch.isFollowing()) return;
    if (atEnd) toEnd();
    else onScroll();
  };
  const observer = new ResizeObserver(follow);
  observer.observe(content);
  observer.observe(region);
  region.addEventListener('scroll', onScroll, { passive: true });
  if (watch.isFollowing()) toEnd();
  return {
    toEnd,
    follow,
    stop: () => {
      observer.disconnect();
      region.removeEventListener('scroll', onScroll);
    },
  };
}
