// The tools i2c and spi: standard programs with bounded arguments. A bus is hardware, so everything except the list of buses asks, and
// addresses that the kernel uses are left alone.

import * as z from 'zod';
import type { CallFacts, ToolDefinition } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';
import { outputOf, type RunKnown } from './run-known.ts';

const TIMEOUT_MS = 15_000;
/** The I2C standard reserves the addresses outside this range. */
const [ADDRESS_MIN, ADDRESS_MAX] = [0x08, 0x77];
const BYTES_MAX = 256;
const SPI_BYTES_MAX = 4096;
const BYTES_SHOWN = 4;

const number = (max: number) =>
  z.preprocess(
    (given) => (typeof given === 'string' && /^(?:0x[0-9a-f]{1,4}|\d{1,5})$/i.test(given) ? Number(given) : given),
    z.number().int().min(0).max(max),
  );
const bytes = (most: number) => z.array(number(255)).min(1).max(most);

const i2cArgs = z
  .strictObject({
    action: z.enum(['list', 'detect', 'read', 'write']),
    bus: number(255).optional().describe('The number, as in /dev/i2c-1.'),
    address: number(0x7f)
      .refine((at) => at >= ADDRESS_MIN && at <= ADDRESS_MAX, 'must be 0x08 to 0x77')
      .optional(),
    register: number(0xff).optional(),
    length: z.number().int().min(1).max(BYTES_MAX).default(1).describe('read: number of bytes.'),
    bytes: bytes(BYTES_MAX).optional().describe('write: the bytes after the register.'),
  })
  .superRefine((args, context) => {
    const needed = { list: [], detect: ['bus'], read: ['bus', 'address'], write: ['bus', 'address', 'bytes'] } as const;
    for (const name of needed[args.action]) {
      if (args[name] === undefined) context.addIssue({ code: 'custom', path: [name], message: `${args.action} needs it` });
    }
  });
type I2cArgs = z.infer<typeof i2cArgs>;

const hex = (value: number): string => `0x${value.toString(16).padStart(2, '0')}`;

/** The exact command line. Without -f, so that the program refuses addresses that the kernel uses. */
export function i2cCommandOf({ action, bus = 0, address = 0, register, length, bytes: sent = [] }: I2cArgs): string[] {
  if (action === 'list') return ['i2cdetect', '-l'];
  if (action === 'detect') return ['i2cdetect', '-y', String(bus)];
  const first = register === undefined ? [] : [register];
  if (action === 'write') {
    const all = [...first, ...sent];
    return ['i2ctransfer', '-y', String(bus), `w${all.length}@${hex(address)}`, ...all.map(hex)];
  }
  // A single transfer with a repeated start, so that nothing comes between selecting the register and reading its value.
  if (first.length === 0) return ['i2ctransfer', '-y', String(bus), `r${length}@${hex(address)}`];
  return ['i2ctransfer', '-y', String(bus), `w1@${hex(address)}`, ...first.map(hex), `r${length}`];
}

export function createI2c(run: RunKnown): ToolDefinition {
  return defineTool({
    name: 'i2c',
    description: 'Use devices on an I2C bus of this computer: list buses, detect devices, read or write bytes of a register.',
    input: i2cArgs,
    class: 'hardware',
    shows: { verb: 'use_bus', target: ['action'] },
    idempotency: ({ action }) => (action === 'write' ? 'unsafe' : action === 'list' ? 'pure' : 'idempotent'),
    timeoutMs: TIMEOUT_MS + 2000,
    facts: (args, { workspace }): CallFacts => hardwareFacts(i2cCommandOf(args), workspace, args.action === 'list' ? null : i2cRisk(args)),
    summarize: (args) => summaryOf(args),
    run: async (args, context) => {
      const output = await outputOf(run, { argv: i2cCommandOf(args), timeoutMs: TIMEOUT_MS, context }, 'i2c-tools');
      if (args.action === 'write') return { forModel: `Written: ${summaryOf(args)}.` };
      if (args.action === 'list' && output.trim() === '') return { forModel: 'This computer has no i2c bus that programs may use.' };
      return { forModel: output.trimEnd() };
    },
  });
}

function i2cRisk({ action, bus = 0, address = 0 }: I2cArgs): string {
  if (action === 'detect') return `It probes every address of bus ${bus}; some devices take that for a command.`;
  if (action === 'read') return `Reading the device at ${hex(address)} can clear its state.`;
  return `It changes the device at ${hex(address)} of bus ${bus}; a wrong value can damage what is attached.`;
}

function summaryOf({ action, bus = 0, address = 0, register, length, bytes: sent = [] }: I2cArgs): string {
  const where = `${hex(address)} on i2c bus ${bus}${register === undefined ? '' : `, register ${hex(register)}`}`;
  if (action === 'list') return 'list the i2c buses';
  if (action === 'detect') return `detect devices on i2c bus ${bus}`;
  return action === 'read' ? `read ${length} bytes from ${where}` : `write ${shownOf(sent)} to ${where}`;
}

/** For the one-line summary. The command line contains all bytes. */
function shownOf(sent: readonly number[]): string {
  return sent.length > BYTES_SHOWN ? `${sent.length} bytes` : sent.map(hex).join(' ');
}

/** A grant covers exactly this command line. */
function hardwareFacts(argv: readonly string[], cwd: string, risk: string | null): CallFacts {
  if (risk === null) return { class: 'read', paths: [], command: null, hosts: [] };
  return { class: 'hardware', paths: [], command: { line: argv.join(' '), cwd }, hosts: [], risks: [risk] };
}

const spiArgs = z
  .strictObject({
    action: z.enum(['info', 'transfer']),
    bus: number(32),
    device: number(32).default(0),
    bytes: bytes(SPI_BYTES_MAX).optional().describe('transfer: the bytes to send; as many are received.'),
    speedHz: z.number().int().min(1000).max(100_000_000).optional(),
  })
  .superRefine(({ action, bytes: sent }, context) => {
    if (action === 'transfer' && sent === undefined) context.addIssue({ code: 'custom', path: ['bytes'], message: 'transfer needs it' });
  });
type SpiArgs = z.infer<typeof spiArgs>;

export function spiCommandOf({ action, bus, device, bytes: sent = [], speedHz }: SpiArgs): string[] {
  const path = `--device=/dev/spidev${bus}.${device}`;
  if (action === 'info') return ['spi-config', path, '--query'];
  return ['spi-pipe', path, `--blocksize=${sent.length}`, '--number=1', ...(speedHz === undefined ? [] : [`--speed=${speedHz}`])];
}

export function createSpi(run: RunKnown): ToolDefinition {
  return defineTool({
    name: 'spi',
    description: 'Use a device on an SPI bus of this computer: show its configuration, or transfer bytes in both directions.',
    input: spiArgs,
    class: 'hardware',
    shows: { verb: 'use_bus', target: ['action'] },
    idempotency: ({ action }) => (action === 'info' ? 'idempotent' : 'unsafe'),
    timeoutMs: TIMEOUT_MS + 2000,
    facts: (args, { workspace }): CallFacts => {
      const line = [...spiCommandOf(args), ...(args.bytes ?? []).map(hex)];
      const what =
        args.action === 'info' ? 'It asks the device for its configuration.' : 'What is sent can change or damage what is attached.';
      return hardwareFacts(line, workspace, what);
    },
    summarize: ({ action, bus, device, bytes: sent = [] }) =>
      action === 'info' ? `read the configuration of spi ${bus}.${device}` : `send ${shownOf(sent)} to spi ${bus}.${device}`,
    run: async (args, context) => {
      const known = { argv: spiCommandOf(args), timeoutMs: TIMEOUT_MS, context };
      if (args.action === 'info') return { forModel: (await outputOf(run, known, 'spi-tools')).trim() };
      const came = await outputOf(run, { ...known, input: Uint8Array.from(args.bytes ?? []), encoding: 'hex' }, 'spi-tools');
      return { forModel: `Received: ${(came.match(/../g) ?? []).map((pair) => `0x${pair}`).join(' ')}` };
    },
  });
}
