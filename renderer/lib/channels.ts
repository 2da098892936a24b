// The doors a turn can come through, in words. Pure.

const channels: Readonly<Record<string, string>> = {
  window: 'the window',
  cli: 'the command line',
  http: 'the window or a program on this machine',
  library: 'a program',
  tray: 'the tray',
  telegram: 'Telegram',
};

export function nameChannel(channel: string): string {
  return channels[channel] ?? channel;
}
