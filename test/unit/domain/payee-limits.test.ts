/** Limits by payee: who is paid, and what each class of payees may get. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  classesOfKey,
  classifyPayee,
  findAllowance,
  payeeClasses,
  widestAllowance,
  type PeriodLimits,
  type Spent,
} from '../../../src/domain/payee-limits.ts';

const person = '12345678909';
const company = '11222333000181';

test('a payee is classified by the whole document, and is a person without one', () => {
  const cases: readonly (readonly [string | null, string, string])[] = [
    [person, '93541134780', 'person'],
    ['123.456.789-09', person, 'own'],
    [company, person, 'company'],
    ['12.ABC.345/01DE-35', person, 'company'],
    [company, company, 'own'],
    ['***.456.789-**', person, 'person'],
    ['**.222.333/0001-**', person, 'person'],
    ['11222333000100', person, 'person'],
    [null, person, 'person'],
  ];
  for (const [document, payer, expected] of cases) {
    assert.equal(classifyPayee(document, payer), expected, `${document} for ${payer}`);
  }
});

test('a key that is a document shows what its owner is not', () => {
  assert.deepEqual(classesOfKey(company), ['company', 'own']);
  assert.deepEqual(classesOfKey(person), ['person', 'own']);
  for (const key of ['ana@example.com', '+5511988887777', '7d9f0335-8dcc-4054-9bf9-0dbd61d36906']) {
    assert.deepEqual(classesOfKey(key), payeeClasses);
  }
});

const none: PeriodLimits = { shared: null, apart: { company: null, own: null } };
const nothing: Spent = { person: 0, company: 0, own: 0, anyone: 0, unjudged: 0 };

const limits = (
  shared: number | null,
  apart: { company?: number; own?: number } = {},
  isShared = false,
): PeriodLimits => {
  const limit = (cents?: number) => (cents === undefined ? null : { cents, isShared });
  return { shared, apart: { company: limit(apart.company), own: limit(apart.own) } };
};

/** What is left for a person, a company and the own document; null: no limit. */
type Left = readonly [person: number | null, company: number | null, own: number | null];

interface Case {
  readonly title: string;
  readonly service?: PeriodLimits;
  readonly customer?: PeriodLimits;
  readonly spent?: Partial<Spent>;
  readonly left: Left;
}

const cases: readonly Case[] = [
  { title: 'without a limit, everything is allowed', left: [null, null, null] },
  {
    title: 'one limit covers every class, and all are summed together',
    service: limits(100),
    spent: { person: 10, company: 20, own: 30, anyone: 5, unjudged: 1 },
    left: [34, 34, 34],
  },
  {
    title: 'a class with a limit of its own is summed alone, the others together',
    service: limits(100, { company: 500 }),
    spent: { person: 10, company: 200, own: 30 },
    left: [60, 300, 60],
  },
  {
    title: 'two classes with limits of their own are summed apart',
    service: limits(100, { company: 500, own: 50 }),
    spent: { person: 10, company: 20, own: 30 },
    left: [90, 480, 20],
  },
  {
    title: 'a class is limited where persons are not',
    service: limits(null, { company: 500 }),
    spent: { person: 1_000, company: 20 },
    left: [null, 480, null],
  },
  {
    title: 'a limit of the customer covers every class of the service',
    service: limits(100, { company: 500 }),
    customer: limits(50),
    spent: { person: 10, company: 20 },
    left: [20, 20, 20],
  },
  {
    title: 'a class that the customer has set leaves the sum of the customer',
    service: limits(100, { company: 500 }),
    customer: limits(50, { company: 60 }),
    spent: { person: 10, company: 20 },
    left: [40, 40, 40],
  },
  {
    title: 'until it leaves the sum, a class counts there, too',
    service: limits(100, { company: 500 }),
    customer: limits(50, { company: 35 }, true),
    spent: { person: 10, company: 20 },
    left: [20, 15, 20],
  },
  {
    title: 'a class that the customer has set stays part of the sum of the service',
    service: limits(100),
    customer: limits(null, { company: 80 }),
    spent: { person: 70, company: 20 },
    left: [10, 10, 10],
  },
  {
    title: 'what has left to nobody known counts for every class',
    service: limits(100, { company: 500, own: 50 }),
    spent: { anyone: 40 },
    left: [60, 460, 10],
  },
  {
    title: 'a send that is still judged counts only where every class does',
    service: limits(100, { company: 500 }),
    customer: limits(300),
    spent: { unjudged: 250 },
    left: [50, 50, 50],
  },
  {
    title: 'a correction may exceed a limit: nothing is left',
    service: limits(100),
    spent: { person: 130 },
    left: [0, 0, 0],
  },
];

describe('what a class may get', () => {
  for (const { title, service = none, customer = none, spent = {}, left } of cases) {
    test(title, () => {
      const found = payeeClasses.map(
        (payee) => findAllowance([service, customer], { ...nothing, ...spent }, payee).leftCents,
      );
      assert.deepEqual(found, left);
    });
  }

  test('the limit is the lower one of the service and the customer', () => {
    const setters = [limits(100, { company: 500 }), limits(300)];
    const found = payeeClasses.map((payee) => findAllowance(setters, nothing, payee).limitCents);
    assert.deepEqual(found, [100, 300, 100]);
  });
});

test('of several classes, the one with most left decides; no limit is most', () => {
  const of = (leftCents: number | null) => ({ limitCents: 100, leftCents });
  assert.equal(widestAllowance([of(10), of(30), of(20)]).leftCents, 30);
  assert.equal(widestAllowance([of(10), of(null), of(20)]).leftCents, null);
  assert.equal(widestAllowance([of(0)]).leftCents, 0);
});
