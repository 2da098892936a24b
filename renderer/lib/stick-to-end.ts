// Keeps a scrolled region at its end while it grows, but only if the person is at the end. Never moves text that is being read.

export interface EndWatch {
  /** False while there is nothing to follow; the region then stays where it is. */
  isFollowing(): boolean;
  /** Called when the region reaches or leaves its end. */
  onChange(atEnd: boolean): void;
}

const nearEndPx = 48;
/** Positions are fractions of a pixel on some screens. */
const roundingPx = 2;

export interface StuckToEnd {
  /** Whether the person is at the end, also before the browser reports that they scrolled. */
  isAtEnd(): boolean;
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
  const look = (): boolean => {
    const top = region.scrollTop;
    const left = region.scrollHeight - top - region.clientHeight;
    // Any move upwards leaves the end, however small: a region that shrinks is moved too, and is then at its very end.
    const now = left < roundingPx || (top >= lastTop && (atEnd || (top > lastTop && left < nearEndPx)));
    lastTop = top;
    if (now === atEnd) return now;
    atEnd = now;
    hold();
    watch.onChange(now);
    return now;
  };
  /** At the end the browser must not move the region for what changes above: that would look like a person who scrolls up. */
  const hold = (): void => void (region.style.overflowAnchor = atEnd ? 'none' : '');
  const toEnd = (): void => {
    region.scrollTop = region.scrollHeight;
    lastTop = region.scrollTop;
  };
  const follow = (): void => {
    // The browser reports a scroll only with the next frame: without a look first, new text would undo it.
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
