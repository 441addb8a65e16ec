import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNetworks, clientSite } from '../../../src/auth/throttle.ts';

test('an IPv6 address lies in networks from its /64 to its /32, which have larger limits', () => {
  assert.deepEqual(findNetworks('2001:db8:1:23ff::/64'), [
    { name: '2001:db8:1:23ff::/64', share: 1 },
    { name: '2001:db8:1:2300::/56', share: 4 },
    { name: '2001:db8:1::/48', share: 16 },
    { name: '2001:db8:0::/40', share: 64 },
    { name: '2001:db8::/32', share: 256 },
  ]);
  assert.deepEqual(findNetworks('203.0.113.7'), [{ name: '203.0.113.7', share: 1 }]);
  assert.deepEqual(findNetworks(''), [{ name: '', share: 1 }]);
});

test('a site is an IPv4 /24 or an IPv6 /56', () => {
  assert.equal(clientSite('203.0.113.7'), clientSite('203.0.113.250'));
  assert.notEqual(clientSite('203.0.113.7'), clientSite('203.0.114.7'));
  assert.equal(clientSite('2001:db8:1:2::/64'), clientSite('2001:db8:1:ff::/64'));
  assert.notEqual(clientSite('2001:db8:1:2::/64'), clientSite('2001:db8:1:102::/64'));
});

test('an IPv6 /40 has the first eight bits of the third group', () => {
  const names = findNetworks('2804:14d:5cff:8000::/64').map(({ name }) => name);
  assert.deepEqual(names.slice(2), ['2804:14d:5cff::/48', '2804:14d:5c00::/40', '2804:14d::/32']);
});
