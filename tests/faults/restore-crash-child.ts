// The process that is killed during the restore of a backup. Without a kill it prints the number of writes.

import { killAtWrite } from './kill-at-write.ts';

const [home = '', file = '', nth = '0', side = 'before'] = process.argv.slice(2);
const writes = killAtWrite({ nth: Number(nth), side: side === 'after' ? 'after' : 'before' }, 1);
const { restoreBackup } = await import('../../core/store/storage/storage.ts');
writes.areCounted = true;
restoreBackup(home, file, Date.now());
writes.areCounted = false;
process.stdout.write(`${writes.count}\n`);
