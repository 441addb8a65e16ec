/** A certificate that a test makes for itself, so that no key lies about in the repository. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface TestCertificate {
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

/** Makes a self-signed certificate for 127.0.0.1 (RFC 5280), valid from 2020 to 2049. */
export function selfSigned(): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = toBeSigned(publicKey);
  const signature = sign('sha256', body, privateKey);
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}

function toBeSigned(publicKey: KeyObject): Buffer {
  const commonName = sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from('127.0.0.1')));
  const name = sequence(der(0x31, commonName));
  const validity = sequence(utcTime('200101000000Z'), utcTime('491231235959Z'));
  return sequence(
    der(0xa0, integer(2)),
    integer(1),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(basicConstraints(), subjectAltName())),
  );
}

function basicConstraints(): Buffer {
  const isAuthority = sequence(der(0x01, Buffer.from([0xff])));
  return sequence(oid(0x55, 0x1d, 0x13), der(0x04, isAuthority));
}

function subjectAltName(): Buffer {
  const address = der(0x87, Buffer.from([127, 0, 0, 1]));
  return sequence(oid(0x55, 0x1d, 0x11), der(0x04, sequence(address)));
}

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(0x30, ...parts);
}

function oid(...bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]));
}

function utcTime(text: string): Buffer {
  return der(0x17, Buffer.from(text));
}
