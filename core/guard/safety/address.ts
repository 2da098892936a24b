// Decides which IP addresses are on the public internet. Pure. All other addresses (this machine, its networks, cloud metadata, tunnels
// that lead back to them) are refused with a reason.

import ipaddr from 'ipaddr.js';

/** Addresses outside the special ranges that serve a machine's credentials or settings. */
const metadata: ReadonlyMap<string, string> = new Map([
  ['168.63.129.16', 'the Azure platform endpoint'],
  ['169.254.169.254', 'the cloud metadata service'],
  ['169.254.170.2', 'the container credentials service'],
  ['169.254.170.23', 'the container credentials service'],
  ['100.100.100.200', 'the cloud metadata service'],
  ['192.0.0.192', 'the cloud metadata service'],
  ['fd00:ec2::254', 'the cloud metadata service'],
  ['fd00:ec2::23', 'the container credentials service'],
  ['fd20:ce::254', 'the cloud metadata service'],
]);

const rangeNames: Readonly<Record<string, string>> = {
  loopback: 'this computer',
  unspecified: 'this computer',
  private: 'a private network',
  uniqueLocal: 'a private network',
  carrierGradeNat: 'a shared provider network',
  linkLocal: 'the local link',
  deprecatedSiteLocal: 'a private network',
  multicast: 'a multicast group',
  broadcast: 'a broadcast address',
};

/**
 * Returns null for a public address, otherwise a description such as "127.0.0.1 is this computer". Accepts canonical and bracketed forms.
 */
export function refuseAddress(address: string): string | null {
  const text = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (!ipaddr.isValid(text)) return `${text} is not an IP address`;
  const parsed = ipaddr.parse(text);
  const what = parsed instanceof ipaddr.IPv6 ? refuseV6(parsed) : refuseV4(parsed);
  return what === null ? null : `${text} is ${what}`;
}

/** Returns whether the address is a metadata service, which no allowlist can open. */
export function isMetadataAddress(address: string): boolean {
  const text = address.replace(/^\[|\]$/g, '');
  if (!ipaddr.isValid(text)) return false;
  const parsed = ipaddr.parse(text);
  const dialled = parsed instanceof ipaddr.IPv6 ? (embeddedV4(parsed) ?? parsed) : parsed;
  return metadata.has(dialled.toString());
}

/** 127.0.0.0/8 and ::1, in canonical form only. */
export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback';
}

function refuseV4(address: ipaddr.IPv4): string | null {
  const known = metadata.get(address.toString());
  if (known !== undefined) return known;
  const range = address.range();
  return range === 'unicast' ? null : (rangeNames[range] ?? 'a reserved address');
}

function refuseV6(address: ipaddr.IPv6): string | null {
  const known = metadata.get(address.toString());
  if (known !== undefined) return known;
  const embedded = embeddedV4(address);
  if (embedded !== null) {
    const inner = refuseV4(embedded);
    return inner === null ? null : `another way to write ${embedded.toString()}, ${inner}`;
  }
  const range = address.range();
  if (range !== 'unicast') return rangeNames[range] ?? 'a reserved address';
  // Only 2000::/3 is global unicast (RFC 4291). All other addresses are unassigned or forms of IPv4.
  const [first = 0, , , , , fifth = 0] = address.parts;
  if (first >> 13 !== 1) return 'a reserved address';
  // ISATAP (RFC 5214) hides an IPv4 address in the interface part.
  const isIsatap = fifth === 0x5efe && ((address.parts[4] ?? 0) & 0xfdff) === 0;
  return isIsatap ? refuseV4(lastV4(address)) : null;
}

/**
 * Returns the address a translator would connect to: for IPv4-mapped addresses, and for the well-known NAT64 prefix (RFC 6052), which
 * IPv6-only networks need.
 */
function embeddedV4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  const isNat64 = address.match(ipaddr.IPv6.parse('64:ff9b::'), 96);
  return isNat64 ? lastV4(address) : null;
}

function lastV4(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}
