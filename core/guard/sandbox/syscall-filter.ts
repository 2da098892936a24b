// The seccomp filter of a confined command as a classic BPF program: no sockets but those of the internet, no kernel key ring, no io_uring
// (which could open sockets past the filter), and no new user namespaces (in which it could undo the mounts). Pure.

/** Return values of a filter, see seccomp(2). */
const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const EPERM = 0x0005_0001;
const ENOSYS = 0x0005_0026;

/** Offsets in struct seccomp_data. Arguments are read by their low word on a little-endian machine. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

/** IPv4, IPv6 and the kernel's own answers, which the C libraries ask for addresses. All others may lead past the network's namespace. */
const SOCKETS = [2, 10, 16];
const CLONE_NEWUSER = 0x1000_0000;
/** Numbers from here on are the x32 form of the same x86-64 calls, which a list of numbers would miss. */
const X32_BIT = 0x4000_0000;

interface SyscallTable {
  readonly architecture: number;
  readonly socket: number;
  readonly clone: number;
  readonly unshare: number;
  readonly setns: number;
  readonly refused: readonly number[];
  readonly clone3: number;
  readonly hasX32: boolean;
}

const IO_URING = [425, 426, 427];
const tables: Partial<Record<NodeJS.Architecture, SyscallTable>> = {
  x64: {
    architecture: 0xc000_003e,
    socket: 41,
    clone: 56,
    unshare: 272,
    setns: 308,
    // add_key, request_key, keyctl
    refused: [...IO_URING, 248, 249, 250],
    clone3: 435,
    hasX32: true,
  },
  arm64: {
    architecture: 0xc000_00b7,
    socket: 198,
    clone: 220,
    unshare: 97,
    setns: 268,
    refused: [...IO_URING, 217, 218, 219],
    clone3: 435,
    hasX32: false,
  },
};

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Returns null if the machine's calls are unknown; nothing can then be confined. */
export function createSyscallFilter(machine: NodeJS.Architecture): Buffer | null {
  const table = tables[machine];
  return table === undefined ? null : assemble(programFor(table));
}

function programFor(table: SyscallTable): Instruction[] {
  const answer = (value: number): Instruction => [RETURN, 0, 0, value];
  /** Skips the following instruction unless the call has this number. */
  const onNumber = (number: number, answerThen: Instruction): Instruction[] => [[JUMP_EQUAL, 0, 1, number], answerThen];
  const onFirstArgument = (number: number, test: Instruction): Instruction[] => [
    [JUMP_EQUAL, 0, 4, number],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    test,
    answer(EPERM),
    answer(ALLOW),
  ];
  const onlySockets: Instruction[] = [
    [JUMP_EQUAL, 0, SOCKETS.length + 3, table.socket],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    ...SOCKETS.map((family, index): Instruction => [JUMP_EQUAL, SOCKETS.length - index, 0, family]),
    answer(EPERM),
    answer(ALLOW),
  ];
  return [
    [LOAD, 0, 0, ARCHITECTURE],
    [JUMP_EQUAL, 1, 0, table.architecture],
    answer(KILL_PROCESS),
    [LOAD, 0, 0, NUMBER],
    ...(table.hasX32 ? ([[JUMP_AT_LEAST, 0, 1, X32_BIT], answer(ENOSYS)] satisfies Instruction[]) : []),
    ...table.refused.flatMap((number) => onNumber(number, answer(EPERM))),
    ...onNumber(table.setns, answer(EPERM)),
    // The flags are in memory, which a filter cannot read. The C libraries fall back to clone.
    ...onNumber(table.clone3, answer(ENOSYS)),
    ...onlySockets,
    ...onFirstArgument(table.clone, [JUMP_ANY_BIT, 0, 1, CLONE_NEWUSER]),
    ...onFirstArgument(table.unshare, [JUMP_ANY_BIT, 0, 1, CLONE_NEWUSER]),
    answer(ALLOW),
  ];
}

/** struct sock_filter: u16 code, u8 jt, u8 jf, u32 k. */
function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
