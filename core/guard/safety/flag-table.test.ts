import { expect, test } from 'vitest';
import { growth } from '../../../tests/own-clock.ts';
import { inPieces } from '../../../tests/rigs/in-pieces.ts';
import { SafetyChecks } from './safety.ts';

const open = (): SafetyChecks => new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
// Joined at run time so that secret scanners do not report this file.
const weak = ['S0mmer2025', '!'].join('');

const lines = [
  // Devices of a network.
  'snmp-server community § RO',
  'rocommunity § 10.0.0.0/8',
  'com2sec readonly default §',
  'snmpwalk -v2c -c § 10.0.0.1 system',
  'snmpwalk -v3 -u ada -l authPriv -a SHA -A § -x AES -X § host',
  'createUser ada SHA "§" AES "§"',
  'snmp-server user ada grp v3 auth sha § priv aes 128 §',
  'enable secret 0 §',
  'username ada privilege 15 secret §',
  'tacacs-server key §',
  'radius-server key 0 §',
  'crypto isakmp key § address 10.0.0.1',
  'ip ospf message-digest-key 1 md5 §',
  'nmcli con modify x 802-11-wireless-security.psk §',
  'netsh wlan set hostednetwork key=§',
  '<keyMaterial>§</keyMaterial>',
  ': PSK "§"',
  // Directories, domains and desktops.
  'net use z: \\\\s\\x § /user:ada',
  'PsExec.exe \\\\h -u ada -p § cmd',
  'winrs -r:h -u:ada -p:§ cmd',
  'rpcclient -U ada%§ h',
  'impacket-psexec dom/ada:§@10.0.0.1',
  'evil-winrm -i h -u ada -p §',
  'ldappasswd -s § -D x',
  'userPassword:: §',
  'bindpw §',
  'rootpw --plaintext §',
  'd-i passwd/root-password password §',
  // Programs that keep secrets.
  'kubectl create secret generic db --from-literal=pin=§',
  'aws configure set aws_secret_access_key §',
  'gh auth login --with-token <<< §',
  'echo § | gh auth login --with-token',
  'echo § | wrangler secret put KEY',
  'secret-tool store --label x a b <<< §',
  'fly secrets set DB=§',
  'npm config set //registry.npmjs.org/:_authToken §',
  'vault login §',
  'consul kv put db/password §',
  'ansible-vault encrypt_string --name db §',
  'bw unlock §',
  'rclone config create r s3 pass §',
  'rclone config password r pass §',
  'security unlock-keychain -p § login.keychain',
  'pdftk a output b user_pw §',
  'variable "db_password" {\n  default = "§"\n}',
  'expect "password:" { send "§\\r" }',
  // The fields of a file.
  '*:*:*:postgres:§',
  'db.example.org:5432:shop:ada:§',
  // Names with letters of another script.
  'pаssword: §',
  'рassword=§',
  'DB_PАSS=§',
  'tоken=§',
  'ｐａｓｓｗｏｒｄ: §',
];

test.each(lines)('redacts what only this place calls a password, whole and in any pieces: %s', (form) => {
  const text = `${form.replaceAll('§', weak)}\nend\n`;
  const whole = open().redact(text).text;
  expect(whole).not.toContain(weak);
  for (const size of [1, 3, 7, 19]) expect(inPieces(open(), text, size)).toBe(whole);
});

const harmless = [
  'snmp-server community public RO',
  'snmpwalk -v2c -c $COMMUNITY 10.0.0.1 system1',
  'kubectl create configmap app --from-literal=mode=dry-run1',
  'vault login -method=userpass username=ada1',
  'net use z: \\\\server1\\share2 /persistent:yes',
  'To enable password reset-links1, open the page.',
  'The variable "key_size" { default = 4096 }',
  'send "hello-1\\r"',
  'modes: wpa-psk wpa2-psk1',
  'ports: 5432:5432:tcp:x',
  'aws configure set region eu-central-1',
  'Пароль хранится в файле auth2.yaml',
  'αβγ_token in β2: see §3.1',
  'the Москва-server1 key',
];

test.each(harmless)('leaves what is not a password readable: %s', (text) => {
  expect(open().redact(text)).toEqual({ text, found: [] });
});

test.each([
  ['commands without an end', 'snmpwalk -'.repeat(30_000)],
  ['users without a password', 'createUser a SHA b AES'.repeat(14_000)],
  ['variables without an end', 'variable "key" {default '.repeat(13_000)],
  ['answers', 'assword send "'.repeat(22_000)],
  ['names in two scripts', 'pаsswоrd '.repeat(33_000)],
  ['letters of another script', `a${'а'.repeat(300_000)}`],
  ['literals', 'secret generic --from-literal'.repeat(10_000)],
])('300 KB of %s are read in time', (_, text) => {
  expect(growth(text, (part) => open().redact(part))).toBeLessThan(20);
});
