import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { clientAddress, isLoopback } from '../../../src/http/client-address.ts';

function from(remoteAddress: string | undefined, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

test('without a trusted proxy the address is the socket’s, whatever the header says', () => {
  assert.equal(clientAddress(from('203.0.113.7', '198.51.100.1'), 0), '203.0.113.7');
});

test('with trusted proxies the address is that many entries from the right', () => {
  const request = from('10.0.0.1', '1.1.1.1, 198.51.100.1, 203.0.113.7');
  assert.equal(clientAddress(request, 1), '203.0.113.7');
  assert.equal(clientAddress(request, 2), '198.51.100.1');
});

test('with fewer entries than proxies the leftmost counts, without a header the socket', () => {
  assert.equal(clientAddress(from('10.0.0.1', '198.51.100.1'), 3), '198.51.100.1');
  assert.equal(clientAddress(from('10.0.0.1'), 1), '10.0.0.1');
});

test('an entry that is no address is passed over for the socket’s', () => {
  for (const entry of ['unknown', '', 'a, b', '1.2.3.4.5', '<script>']) {
    assert.equal(clientAddress(from('10.0.0.1', entry), 1), '10.0.0.1', entry);
  }
});

test('an entry may carry a port', () => {
  assert.equal(clientAddress(from('10.0.0.1', '203.0.113.7:4711'), 1), '203.0.113.7');
  assert.equal(clientAddress(from('10.0.0.1', '[2001:db8::1]:80'), 1), '2001:db8:0:0::/64');
});

test('an IPv4 address in IPv6 form is the IPv4 address', () => {
  assert.equal(clientAddress(from('::ffff:203.0.113.7'), 0), '203.0.113.7');
  assert.equal(clientAddress(from('::ffff:cb00:7107'), 0), '203.0.113.7');
});

test('an IPv6 address counts as its /64', () => {
  const one = clientAddress(from('2001:db8:1:2:3:4:5:6'), 0);
  const other = clientAddress(from('2001:db8:1:2:ffff::9'), 0);
  assert.equal(one, '2001:db8:1:2::/64');
  assert.equal(other, one);
  assert.notEqual(clientAddress(from('2001:db8:1:3::1'), 0), one);
  assert.equal(clientAddress(from('fe80::1%eth0'), 0), 'fe80:0:0:0::/64');
});

test('a closed socket has no address', () => {
  assert.equal(clientAddress(from(undefined), 0), '');
});

test('loopback is 127.0.0.0/8 and ::1 in all their forms, and nothing else', () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
    assert.ok(isLoopback(address), address);
  }
  for (const address of ['10.0.0.1', '::2', '128.0.0.1', '', undefined]) {
    assert.ok(!isLoopback(address), String(address));
  }
});
