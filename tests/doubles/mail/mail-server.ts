// For tests only: a real mail server on loopback. Debian's Dovecot serves the mailboxes over IMAP; Debian's aiosmtpd receives mail over
// SMTP, one instance for each mailbox. Everything is in one temporary folder.

import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../free-port.ts';
import { until } from '../../until.ts';

/** Two mailboxes: one for the agent, and one for all people. */
const boxes = ['agent', 'people'] as const;
type Box = (typeof boxes)[number];

export class MailServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'trayclaw-mail-'));
  readonly #children: ChildProcess[] = [];
  readonly #smtp = new Map<Box, number>();
  imapPort = 0;
  #delivered = 0;

  static async start(): Promise<MailServer> {
    const server = new MailServer();
    await server.#start();
    return server;
  }

  /** Mail sent to this port is delivered to the mailbox. */
  smtpPort(box: Box): number {
    return this.#smtp.get(box) ?? 0;
  }

  async #start(): Promise<void> {
    // The user of the mailboxes needs access to them, whichever folder the test run uses.
    for (const folder of [this.folder, tmpdir()]) chmodSync(folder, statSync(folder).mode | 0o011);
    this.imapPort = await freePort();
    for (const box of boxes) {
      for (const name of ['.', 'Maildir', 'Maildir/new', 'Maildir/cur', 'Maildir/tmp']) {
        const folder = join(this.folder, box, name);
        mkdirSync(folder, { recursive: true });
        // Two users write to the mailbox.
        chmodSync(folder, 0o777);
      }
      const port = await freePort();
      this.#smtp.set(box, port);
      this.#run('/usr/bin/python3', [
        '-m',
        'aiosmtpd',
        '-n',
        '-l',
        `127.0.0.1:${port}`,
        '-c',
        'aiosmtpd.handlers.Mailbox',
        join(this.folder, box, 'Maildir'),
      ]);
    }
    await this.startImap();
    for (const box of boxes) await until(() => isListening(this.smtpPort(box)), 'the SMTP server listens');
  }

  async startImap(): Promise<void> {
    const { username, uid, gid } = userInfo();
    // Dovecot serves no mailbox of root and reads no password as root.
    const isRoot = uid === 0;
    const mail = isRoot ? { uid: 65534, gid: 65534 } : { uid, gid };
    const [internal, login, group] = isRoot ? ['dovecot', 'dovenull', 'dovecot'] : [username, username, groupName(gid)];
    const config = join(this.folder, 'dovecot.conf');
    writeFileSync(
      config,
      `
protocols = imap
listen = 127.0.0.1
base_dir = ${this.folder}/run
state_dir = ${this.folder}/state
log_path = ${this.folder}/dovecot.log
ssl = no
disable_plaintext_auth = no
# A wrong password waits for two seconds by default, and each further login from the same address for longer.
auth_failure_delay = 0
default_internal_user = ${internal}
default_internal_group = ${group}
default_login_user = ${login}
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:${this.folder}/%u/Maildir
mailbox_list_index = no
service imap-login {
  chroot =
  inet_listener imap {
    address = 127.0.0.1
    port = ${this.imapPort}
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
passdb {
  driver = static
  args = password=right-password
}
userdb {
  driver = static
  args = uid=${mail.uid} gid=${mail.gid} home=${this.folder}/%u
}
`,
    );
    this.#run('/usr/sbin/dovecot', ['-F', '-c', config]);
    await until(() => isListening(this.imapPort), `the IMAP server listens; ${this.#log()}`);
  }

  /** The complete mails in a mailbox, oldest first. */
  mails(box: Box): string[] {
    const found = ['new', 'cur'].flatMap((name) => {
      const folder = join(this.folder, box, 'Maildir', name);
      return readdirSync(folder).map((file) => ({ file, path: join(folder, file) }));
    });
    return found.toSorted((a, b) => orderOf(a.file) - orderOf(b.file)).map(({ path }) => readFileSync(path, 'utf8'));
  }

  /** Puts a mail into a mailbox byte by byte, as a delivery agent does. */
  deliver(box: Box, mail: Buffer): void {
    const name = `${Math.floor(Date.now() / 1000)}.M${++this.#delivered}P1.tray.example`;
    const [made, delivered] = ['tmp', 'new'].map((folder) => join(this.folder, box, 'Maildir', folder, name)) as [string, string];
    writeFileSync(made, mail);
    chmodSync(made, 0o666);
    renameSync(made, delivered);
  }

  /** Ends every IMAP connection. */
  async cutImap(): Promise<void> {
    const dovecot = this.#children.pop();
    if (dovecot !== undefined) await end(dovecot);
    await this.startImap();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map(end));
    rmSync(this.folder, { recursive: true, force: true });
  }

  #run(program: string, args: readonly string[]): void {
    this.#children.push(spawn(program, args, { stdio: 'ignore', cwd: this.folder }));
  }

  #log(): string {
    try {
      return readFileSync(join(this.folder, 'dovecot.log'), 'utf8').slice(-500);
    } catch {
      return 'no log';
    }
  }
}

/** Orders files named `SECONDS.M123P45Q6.host`. */
function orderOf(file: string): number {
  const [seconds = '0', rest = ''] = file.split('.');
  return Number(seconds) * 1_000_000 + Number(/M(\d+)/.exec(rest)?.[1] ?? '0');
}

function groupName(gid: number): string {
  const line = readFileSync('/etc/group', 'utf8')
    .split('\n')
    .find((one) => one.split(':')[2] === String(gid));
  return line?.split(':')[0] ?? 'root';
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}
