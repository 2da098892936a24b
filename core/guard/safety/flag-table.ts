// The flags and directives whose next word is a password, by the program that takes it. Data.

import { escapeRegExp } from './pattern-rule.ts';

const onLine = String.raw`[^\n|;]{0,330}`;
/** The words between a program and a flag, also on a line that continues. */
const between = String.raw`(?:[^\n|;\\]|\\\n?){0,160}?`;
export const letter = String.raw`[^\s"'\x60$<>|;&(){}\\]`;
export type Flag = readonly [trigger: string, before: string, reach: string];

/** Of these programs, `-p`, `-P` or `-w` gives a password. */
const passwordPrograms =
  'bcp|osql|cqlsh|crackmapexec|netexec|evil-winrm|rdesktop|steghide|ldapwhoami|security unlock-keychain|security add-generic-password|security add-internet-password|sqlcmd|mongosh|mongo|mongodump|mongorestore|psexec|ldapsearch|ldapadd|ldapmodify|ldapdelete|mycli|useradd|usermod|ipmitool|az login|docker login|podman login|oc login|cf login|registry login|twine upload|mosquitto_pub|mosquitto_sub'.split(
    '|',
  );

const commonFlags: readonly Flag[] = [
  [
    'curl ',
    String.raw`curl (?=[-"'h\\]|[\w-]{1,63}\.\w)${between}(?:(?<=\s)-[A-Za-z]{0,8}u ?|--(?:proxy-)?user[ =])["']?[^\s:"']{1,100}:`,
    String.raw`(?:(?:[-"'h\\]|[\w-]{1,63}\.)(?:[^\n|;\\]|\\\n?){0,330})?`,
  ],
  ['kubeadm ', String.raw`kubeadm (?:join|init|token)${between}--token[ =]["']?`, `(?:[a-z]${onLine})?`],
  ['Fastly-Key:', 'Fastly-Key: ?', String.raw` ?\S{0,201}`],
  ['sshpass ', String.raw`sshpass (?:-[^\n|;]{0,40}? ?)?-p ?["']?`, `(?:-${onLine})?`],
  ...['mysql', 'mariadb'].map((name): Flag => [
    name,
    String.raw`${name}(?:-?(?:dump|admin|import|show|check))?(?: -[^\n|;]{0,120}?)? -p["']?`,
    `[a-z-]{0,7}(?: (?:-${onLine})?)?`,
  ]),
  ['mysqladmin ', String.raw`mysqladmin ${between}password ["']?`, `(?:-${onLine})?`],
  ['redis-cli ', String.raw`redis-cli (?:-[^\n|;]{0,120}? )?(?:-a|--pass) ["']?`, `(?:-${onLine})?`],
  ['pass:', String.raw`(?<=[\s"'/=])pass:`, String.raw`\S{0,201}`],
  ['-pass', String.raw`(?<=\s-|\s--[a-z-]{1,20})-pass(?:word|phrase|wd)?[= ]["']?`, String.raw`[a-z]{0,6}[= ]?["']?\S{0,201}`],
  [
    'htpasswd ',
    String.raw`htpasswd (?=[^\n|;]{0,40}?-[A-Za-z]*b)(?:-[A-Za-z]{1,6} (?:\d{1,2} )?){1,5}(?:[^\s-]\S{0,99} )?[^\s-]\S{0,59} ["']?`,
    `(?:-${onLine})?`,
  ],
  ['-Password ', '-Password ["\']?', String.raw`["']?\S{0,201}`],
  ...['net user ', 'NET USER ', 'Net user '].map((name): Flag => [
    name,
    String.raw`${name}(?:/\w{1,8} ){0,2}\S{1,60} ["']?`,
    String.raw`(?:/\w{0,8} ?){0,2}\S{0,60}(?: ["']?\S{0,201})?`,
  ]),
  ['isql ', String.raw`isql (?:${between}(?<=\s)-P|(?:-\w{1,10} ){0,3}[\w.]{1,60} \w{1,40} (?=\S{1,200}\s{0,3}(?:\n|$))) ?["']?`, onLine],
  ...['impdp ', 'expdp ', 'CONNECT ', 'connect '].map((name): Flag => [name, String.raw`${name}["']?\w{1,40}/["']?`, onLine]),
  ['AUTH ', String.raw`(?<![^\n])AUTH (?:\S{1,40} )?(?=\S{6,200}\s{0,3}(?:\n|$))["']?`, String.raw`\S{0,60} ?\S{0,203}\s{0,4}`],
  [':{SHA}', String.raw`:\{SHA\}`, String.raw`\S{0,201}`],
  ['redis-cli ', String.raw`redis-cli (?:-[^\n|;]{0,120}? )?(?:AUTH|auth) (?:[a-z]\w{0,40} (?=\S))?["']?`, onLine],
  ...['AUTH ', 'auth '].map((name): Flag => [
    name,
    String.raw`(?<=(?:^|\n)(?:[\w.-]{1,60}:\d{2,5}(?:\[\d{1,2}\])?)?> )${name}(?:[a-z]\w{0,40} (?=\S))?["']?`,
    String.raw`\S{0,60}(?: ["']?\S{0,201})?`,
  ]),
  // A constant in PHP.
  [
    'define(',
    String.raw`define\( ?["']\w{0,60}(?:PASS|PASSWORD|SECRET|TOKEN|KEY|SALT)\w{0,20}["'] {0,2}, {0,3}["']`,
    String.raw`(?: ?["']\w{0,90}(?:["'] {0,2},?${onLine})?)?`,
  ],
  ['IDENTIFIED ', String.raw`IDENTIFIED (?:WITH \w{1,40} )?BY ["']?`, String.raw`(?:[WB]${onLine})?`],
  ['identified ', String.raw`identified (?:with \w{1,40} )?by ["']`, String.raw`(?:with \w{0,40} ?)?(?:b?y? ?(?:["']\S{0,201})?)?`],
  ...['7z ', '7za ', 'rar '].map((name): Flag => [name, String.raw`${name}(?=[a-z] )[^\n|;]{0,120}? -h?p["']?`, `(?:[a-z] ${onLine})?`]),
  ['zip ', String.raw`zip (?:-[^\n|;]{0,120}? )?-P ?["']?`, `(?:-${onLine})?`],
  ...passwordPrograms.map((name): Flag => [`${name} `, String.raw`${name} ${between}(?<=\s)-[pPw] ["']?`, onLine]),
  ['ssh-keygen ', String.raw`ssh-keygen ${between}-[NP] ["']?`, onLine],
  ...['plink ', 'pscp ', 'psftp '].map((name): Flag => [name, String.raw`${name}${between}-pw ["']?`, onLine]),
  ['openssl enc ', String.raw`openssl enc ${between}-k ["']?`, onLine],
  ['openssl passwd ', String.raw`openssl passwd (?:-\w{1,10} ){0,4}["']?`, String.raw`(?:-\w{0,10} ?){0,4}(?:["']?\S{0,201})?`],
  ['rabbitmqctl ', String.raw`rabbitmqctl (?:add_user|change_password) \S{1,60} ["']?`, onLine],
  ['nmcli ', String.raw`nmcli ${between}password ["']?`, onLine],
  ['gh secret set ', String.raw`gh secret set ${between}(?:--body[ =]|-b ?)["']?`, onLine],
  ['--secret-string ', String.raw`--secret-string ["']?`, String.raw`["']?\S{0,201}`],
  ['sqlplus ', String.raw`sqlplus (?:-\w{1,10} ){0,3}["']?\w{1,40}/["']?`, onLine],
  ['jdbc:oracle:', String.raw`jdbc:oracle:\w{1,10}:\w{1,40}/`, String.raw`\S{0,260}`],
  ...['http -', 'https -', 'xh -'].map((name): Flag => [
    name,
    String.raw`${name}(?:a |-auth[= ])["']?[^\s:"']{1,100}:`,
    String.raw`[a-]${onLine}`,
  ]),
  ['smbclient ', String.raw`smbclient [^\n|;]{0,120}?-U ?["']?[^\s%"']{1,60}%`, onLine],
  ['lftp ', String.raw`lftp [^\n|;]{0,60}?-u ["']?[^\s,"']{1,60},["']?`, onLine],
  ['net use ', String.raw`net use [^\n|;]{0,120}?/user:\S{1,60} ["']?`, onLine],
  ['wpa_passphrase ', String.raw`wpa_passphrase \S{1,60} ["']?`, String.raw`\S{0,60}(?: ["']?\S{0,201})?`],
  ['rdp ', String.raw`rdp [^\n|;]{0,160}?/p:["']?`, onLine],
  ['schtasks ', String.raw`schtasks [^\n|;]{0,160}?/rp ["']?`, onLine],
  ['SecureString ', String.raw`SecureString (?:(?:-(?:String|AsPlainText|Force) ){0,3}["']|${between}--value[ =]["']?)`, onLine],
  ['authtoken ', 'authtoken ', String.raw`\S{0,201}`],
  ['wifi-sec.psk ', String.raw`wifi-sec\.psk ["']?`, String.raw`["']?\S{0,201}`],
  // The code that a telephone scans to join a network.
  ['WIFI:', String.raw`WIFI:(?:[STH]:[^;\n]{0,64};){0,3}P:`, onLine],
  ['requirepass ', String.raw`requirepass ["']?`, String.raw`["']?\S{0,201}`],
  ...['-storepass ', '-keypass '].map((name): Flag => [name, String.raw`${name}["']?`, String.raw`["']?\S{0,201}`]),
  // In a Dockerfile.
  ['ENV ', String.raw`(?<![^\n])ENV \w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD)\w{0,20} ["']?`, String.raw`\w{0,70}(?: ["']?\S{0,201})?`],
  ['setx ', String.raw`setx \w{0,40}(?:KEY|TOKEN|SECRET|PASSWORD)\w{0,20} ["']?`, String.raw`\w{0,70}(?: ["']?\S{0,201})?`],
  // In the address of a database, between other settings.
  ...[';Password=', ';Pwd=', ';PWD=', ';password='].map((name): Flag => [name, name, String.raw`\S{0,201}`]),
];

/** Devices of a network, where a community or a key is a password. */
const deviceFlags: readonly Flag[] = [
  ...['rocommunity ', 'rwcommunity ', 'rocommunity6 ', 'rwcommunity6 ', 'snmp-server community ', 'tacacs-server key ', 'isakmp key '].map(
    (name): Flag => [name, String.raw`${name}(?:[067] )?["']?`, String.raw`\S{0,203}`],
  ),
  ['radius-server key ', 'radius-server key (?:[07] )?', String.raw`\S{0,203}`],
  ['com2sec ', String.raw`com2sec (?:-Cn \S{1,40} )?\S{1,60} \S{1,60} ["']?`, onLine],
  ...['snmpwalk ', 'snmpget ', 'snmpgetnext ', 'snmpbulkwalk ', 'snmpset ', 'snmptable ', 'snmptrap '].flatMap((name): Flag[] => [
    [name, String.raw`${name}${between}(?<=\s)-[cA] ["']?`, onLine],
    [name, String.raw`${name}${between}(?<=\s)-X ["']?`, onLine],
  ]),
  ['createUser ', String.raw`createUser (?:-e \S{1,70} )?\S{1,60} (?:MD5|SHA\S{0,4}) ["']?`, onLine],
  ['createUser ', String.raw`createUser (?:-e \S{1,70} )?\S{1,60} (?:MD5|SHA\S{0,4}) \S{1,202} (?:DES|AES\S{0,4}) ["']?`, onLine],
  ['v3 auth ', String.raw`v3 auth (?:md5|sha\S{0,4}) `, onLine],
  ['v3 auth ', String.raw`v3 auth (?:md5|sha\S{0,4}) \S{1,202} priv (?:des|3des|aes)(?: \d{3})? `, onLine],
  ['version 2c ', String.raw`(?<=snmp-server host [^\n|;]{1,80})version 2c `, String.raw`\S{0,203}`],
  ...['enable secret ', 'enable password '].map((name): Flag => [
    name,
    String.raw`(?<![^\n])${name}(?:level \d{1,2} )?(?:[059] )?`,
    String.raw`(?:level \d{0,2} ?)?(?:[059] )?\S{0,201}`,
  ]),
  ['username ', String.raw`(?<![^\n])username \S{1,60} (?:privilege \d{1,2} )?(?:password|secret) (?:[0579] )?`, onLine],
  ['neighbor ', String.raw`(?<![^\n] {0,2}\S)neighbor \S{1,60} password (?:[07] )?`, onLine],
  ['message-digest-key ', String.raw`message-digest-key \d{1,3} md5 (?:[07] )?`, onLine],
  ['ppp chap password ', 'ppp chap password (?:[07] )?', String.raw`\S{0,203}`],
  ['wpa-psk ', String.raw`(?<=(?:^|\n)[ \t]{0,8})wpa-psk ["']?`, String.raw`\S{0,203}`],
  ['wireless-security.psk ', String.raw`wireless-security\.psk ["']?`, String.raw`\S{0,203}`],
  ['<keyMaterial>', '<keyMaterial>', String.raw`\S{0,201}`],
  ['hostednetwork ', String.raw`hostednetwork ${between}key=["']?`, onLine],
  [': PSK "', ': PSK "', String.raw`\S{0,201}`],
  [': XAUTH "', ': XAUTH "', String.raw`\S{0,201}`],
  [
    'pre-shared-key ',
    String.raw`pre-shared-key (?:\d{1,4} )?(?:(?:ascii-text|text) )?(?=\S{6,203}[ \t]{0,3}(?:\r?\n|$))["']?`,
    String.raw`\S{0,10} ?\S{0,20} ?\S{0,203}`,
  ],
  ['wep_key', String.raw`wep_key\d?\s{0,3}=\s{0,3}["']?`, String.raw`\d?\s{0,3}=?\s{0,3}["']?\S{0,201}`],
  [': EAP "', ': EAP "', String.raw`\S{0,201}`],
];

/** Directories, domains and desktops. */
const accountFlags: readonly Flag[] = [
  ['net use ', String.raw`net use (?:[A-Za-z*]:? )?\\\\\S{1,120} ["']?(?![/*])`, onLine],
  ['PsExec', String.raw`PsExec(?:64)?(?:\.exe)? ${between}(?<=\s)-p ["']?`, `(?:64)?(?:\\.exe)?${onLine}`],
  ['winrs ', String.raw`winrs ${between}-p(?:assword)?:["']?`, onLine],
  ['rasdial ', String.raw`rasdial \S{1,60} \S{1,60} ["']?(?!/)`, onLine],
  ...['rpcclient ', 'net rpc ', 'net ads ', 'smbget ', 'winexe '].map((name): Flag => [
    name,
    String.raw`${name}[^\n|;]{0,120}?-U ?["']?[^\s%"']{1,60}%`,
    onLine,
  ]),
  ...['impacket-', 'secretsdump.py ', 'psexec.py ', 'wmiexec.py ', 'smbexec.py '].map((name): Flag => [
    name,
    String.raw`${escapeRegExp(name)}${between}(?<=[\s/"'])[\w.-]{1,60}:(?=[^\s@]{1,200}@)`,
    onLine,
  ]),
  ['ldappasswd ', String.raw`ldappasswd ${between}(?<=\s)-[sw] ["']?`, onLine],
  ['-pwd ', String.raw`(?<=\s)-pwd ["']?`, String.raw`["']?\S{0,201}`],
  // Accounts of mail servers, and logins to mailboxes and FTP.
  ...[']:25 ', ']:465 ', ']:587 ', ']:25\t', ']:465\t', ']:587\t'].map((name): Flag => [
    name,
    String.raw`${escapeRegExp(name)}[ \t]{0,8}[\w.@+-]{1,80}:`,
    String.raw`[ \t]{0,8}\S{0,290}`,
  ]),
  ['PASS ', String.raw`(?<=USER \S{1,80}\r?\n(?:\d{3} [^\n]{0,120}\n)?)PASS `, String.raw`\S{0,201}`],
  ['LOGIN ', String.raw`(?<=(?:^|\n)\w{1,8} )LOGIN "?[^\s"]{1,80}"? "?`, onLine],
  // The passwords that cloud-init sets, one user a line.
  ...[0, 1, 2, 3, 4].map((more): Flag => [
    'chpasswd:\n',
    String.raw`chpasswd:\n(?: {1,12}expire:[^\n]{0,20}\n)?[ ]{1,12}list: {0,2}\|?-?\n(?: {1,16}(?:- )?[^\s:]{1,60}:\S{1,200}\n){${more}} {1,16}(?:- )?[^\s:]{1,60}:`,
    String.raw`(?:[ ]{1,16}[^\n]{0,270}\n?){0,8}`,
  ]),
  // Names and secrets of dialled connections: `client server secret addresses`. A trigger that began with a blank would hold back the blank
  // after every word of a stream.
  ...['" * ', '\t*\t', 'pptpd ', 'l2tpd ', 'pptpd\t', 'l2tpd\t'].map((name): Flag => [
    name,
    String.raw`(?<=(?:^|\n)"?[\w.@-]{1,60}"?[ \t]{0,8})${escapeRegExp(name)}[ \t]{0,8}(?=\S{6,202}[ \t]{1,8}(?:\*|[\d.]{7,15})[ \t]{0,8}(?:\r?\n|$))"?`,
    String.raw`[ \t]{0,8}[^\s(){};]{0,202}(?:[ \t]{1,8}[\d.*]{0,15})?`,
  ]),
  ['userPassword:: ', 'userPassword:: ', String.raw`\S{0,201}`],
  ['bindpw ', String.raw`(?<![^\n])bindpw `, String.raw`\S{0,201}`],
  ['rootpw ', String.raw`(?<![^\n])rootpw (?:--plaintext )?`, String.raw`(?:--\w{0,12} ?)?\S{0,201}`],
  ['-password password ', '(?<=passwd/(?:root|user))-password password ', String.raw`\S{0,201}`],
];

/** Programs that keep secrets, and those that open what is locked. */
const keeperFlags: readonly Flag[] = [
  [
    '--from-literal',
    String.raw`(?<=secret generic [^\n|;]{0,300})--from-literal[= ]["']?[\w.-]{1,80}=["']?`,
    String.raw`[= ]?["']?[\w.-]{0,80}=?["']?\S{0,201}`,
  ],
  ['aws configure set ', String.raw`aws configure set (?:[\w.-]{1,80}\.)?aws_(?:secret_access_key|session_token) ["']?`, onLine],
  ['secrets set ', String.raw`secrets set (?:-\S{1,30} ){0,3}\w{1,60}=["']?`, onLine],
  ['npm config set ', String.raw`npm config set \S{0,100}_(?:authToken|auth|password)[ =]["']?`, onLine],
  ['vault login ', String.raw`vault login (?:-\S{1,60} ){0,3}["']?(?!-|\w{1,20}=)`, onLine],
  ...['consul kv put ', 'etcdctl put '].map((name): Flag => [
    name,
    String.raw`${name}\S{0,80}(?:password|secret|token|key)\S{0,20} ["']?`,
    onLine,
  ]),
  ['encrypt_string ', String.raw`encrypt_string (?:(?:--(?:name|vault-id|encrypt-vault-id)[ =]|-n )\S{1,60} ){0,3}["']?(?!-)`, onLine],
  ['bw unlock ', String.raw`bw unlock ["']?(?!-)`, String.raw`["']?\S{0,201}`],
  ['bw login ', String.raw`bw login \S{1,80} ["']?(?!-)`, onLine],
  ['rclone config ', String.raw`rclone config (?:create|update) ${between}(?<=\s)pass(?:word)? ["']?`, onLine],
  ['rclone config ', String.raw`rclone config password \S{1,60} \S{1,60} ["']?`, onLine],
  ['rclone obscure ', String.raw`rclone obscure ["']?(?!-)`, String.raw`["']?\S{0,201}`],
  ['qpdf ', String.raw`qpdf ${between}--encrypt ["']?`, onLine],
  ['_pw ', String.raw`(?<=(?:input|owner|user))_pw (?:[A-Z]=)?["']?`, String.raw`["']?\S{0,203}`],
  // In Terraform.
  [
    'variable "',
    String.raw`variable "\w{0,60}(?:password|passwd|secret|token|key)\w{0,20}" {0,2}\{[^}]{0,200}?default {1,8}= {1,8}"`,
    String.raw`\w{0,80}"? {0,2}\{?[^}]{0,400}`,
  ],
  // A script that answers a question for a password.
  ['send "', String.raw`(?<=(?:assword|assphrase)[^\n]{0,12}\n?[^\n]{0,20})send "`, String.raw`\S{0,201}`],
  ['send -- "', String.raw`(?<=(?:assword|assphrase)[^\n]{0,12}\n?[^\n]{0,20})send -- "`, String.raw`\S{0,201}`],
];

/**
 * A word after these patterns is a password. `before` matches everything up to the password, from the trigger on. `reach` matches text
 * after the trigger that may still lead to a password. A stream waits for such text, so `reach` matches commands but not prose about them.
 */
export const flags: readonly Flag[] = [...commonFlags, ...deviceFlags, ...accountFlags, ...keeperFlags];
