/**
 * Draws the random ids of the service from the seed: UUIDs, and the characters of txids. Statements
 * lock and return rows in the order of ids and of hashes of payloads that contain them, so with ids
 * of the machine a seed would not determine the history.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { Chance } from './chance.ts';

let chance = new Chance(0);
/** The time in the ids of version 7: as on a machine, several ids may have the same one. */
let timeMs = 0;

const firstMs = Date.parse('2026-05-24T00:00:00.000Z');

/** Later ids are those of this seed. */
export function beginIds(seed: number): void {
  chance = new Chance(seed);
  timeMs = firstMs;
}

function randomDigits(count: number): string {
  const digits = Math.floor(chance.next() * 16 ** count);
  return digits.toString(16).padStart(count, '0');
}

type Uuid = ReturnType<typeof crypto.randomUUID>;

function randomTail(version: '4' | '7'): string {
  return `${version}${randomDigits(3)}-8${randomDigits(3)}-${randomDigits(6)}${randomDigits(6)}`;
}

function drawUuid(): Uuid {
  return `${randomDigits(8)}-${randomDigits(4)}-${randomTail('4')}` as Uuid;
}

function drawUuidV7(): Uuid {
  timeMs += chance.below(2);
  const digits = timeMs.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-${randomTail('7')}` as Uuid;
}

function drawInt(least: number, beyond?: number): number {
  return beyond === undefined ? chance.below(least) : chance.between(least, beyond - 1);
}

Object.assign(crypto, { randomUUID: drawUuid, randomUUIDv7: drawUuidV7, randomInt: drawInt });
syncBuiltinESMExports();
