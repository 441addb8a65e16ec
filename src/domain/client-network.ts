/**
 * The networks of a client address. An address is an IPv4 address or the /64 of an IPv6 address
 * (`2001:db8:0:1::/64`), as `clientAddress` returns it.
 */

export interface Network {
  readonly name: string;
  /** The network's limit as a multiple of an address's limit: it may serve several customers. */
  readonly share: number;
}

/** The /64, the /56 and the /48 of an IPv6 address; an IPv4 address alone. */
export function networksOf(address: string): readonly Network[] {
  const own = { name: address, share: 1 };
  const groups = ipv6Groups(address);
  if (!groups) return [own];
  const wider = [
    { name: slash56(groups), share: 4 },
    { name: `${groups.slice(0, 3).join(':')}::/48`, share: 16 },
  ];
  return [own, ...wider];
}

/** The network of one household or office: an IPv4 /24, an IPv6 /56. */
export function siteOf(address: string): string {
  const groups = ipv6Groups(address);
  return groups ? slash56(groups) : `${address.split('.').slice(0, 3).join('.')}.0/24`;
}

/** The first four groups of a /64; null for anything else. */
function ipv6Groups(address: string): readonly string[] | null {
  return address.endsWith('::/64') ? address.slice(0, -'::/64'.length).split(':') : null;
}

function slash56([a = '0', b = '0', c = '0', d = '0']: readonly string[]): string {
  return `${a}:${b}:${c}:${(Number.parseInt(d, 16) & 0xff00).toString(16)}::/56`;
}
