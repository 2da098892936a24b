// Keeps a scrolled region at its end while it grows, but only if the person is at the end. Never moves text that is being read.

export interface EndWatch {
  /** False if there is nothing to follow; the region then stays where it is. */
  isFollowing(): boolean;
  /** Called when the region reaches or leaves its end. */
  onChange(atEnd: boolean): void;
}

const nearEndPx = 48;
/** On some screens positions are fractions of a pixel. */
const roundingPx = 2;

export interface StuckToEnd {
  /** Whether the person is at the end, even before the browser has reported a scroll. */
  isAtEnd(): boolean;
  /** Jumps to the end. */
  toEnd(): void;
  /** Follows new content now. Without this call it is followed after it was painted, which takes a second frame. */
  follow(): void;
  stop(): void;
}

/** Follows `content` inside `region` until stopped. */
export function stickToEnd(region: HTMLElement, content: HTMLElement, watch: EndWatch): StuckToEnd {
  let atEnd = true;
  let lastTop = 0;
  const look = (): boolean => {
    const top = region.scrollTop;
    const left = region.scrollHeight - top - region.clientHeight;
    // Any upward scroll leaves the end, however small. A shrinking region also moves up, but ends at its very end.
    const now = left < roundingPx || (top >= lastTop && (atEnd || (top > lastTop && left < nearEndPx)));
    lastTop = top;
    if (now === atEnd) return now;
    atEnd = now;
    hold();
    watch.onChange(now);
    return now;
  };
  /** At the end, the browser must not adjust the scroll for changes above: that would look like the person scrolling up. */
  const hold = (): void => void (region.style.overflowAnchor = atEnd ? 'none' : '');
  const toEnd = (): void => {
    region.scrollTop = region.scrollHeight;
    lastTop = region.scrollTop;
  };
  const follow = (): void => {
    // The browser reports a scroll only in the next frame; without this check, new text would undo it.
    if (watch.isFollowing() && look()) toEnd();
  };
  const observer = new ResizeObserver(follow);
  observer.observe(content);
  observer.observe(region);
  const onScroll = (): void => void look();
  region.addEventListener('scroll', onScroll, { passive: true });
  hold();
  if (watch.isFollowing()) toEnd();
  return {
    isAtEnd: look,
    toEnd,
    follow,
    stop: () => {
      observer.disconnect();
      region.removeEventListener('scroll', onScroll);
    },
  };
}
