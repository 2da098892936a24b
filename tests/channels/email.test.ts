// Email as a channel, over a real Dovecot and a real SMTP server.

import { channelConformance } from './conformance.ts';
import { MailBench } from '../doubles/mail/mail-bench.ts';

channelConformance('email', async () => (await MailBench.start()).bench, 'Dovecot and aiosmtpd');
