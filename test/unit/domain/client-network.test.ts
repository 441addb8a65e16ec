import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNetworks, clientSite } from '../../../src/auth/throttle.ts';

test('an IPv6 address lies in its /64, its /56 and its /48, which have larger limits', () => {
  assert.deepEqual(findNetworks('2001:db8:1:23ff::/64'), [
    { name: '2001:db8:1:23ff::/64', share: 1 },
    { name: '2001:db8:1:2300::/56', share: 4 },
    { name: '2001:db8:1::/48', share: 16 },
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
