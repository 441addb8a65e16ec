/** The cases, in the order in which they run. */
import { balance } from './balance.ts';
import type { Case } from './case.ts';
import { replay, send } from './payments.ts';
import { read } from './read.ts';
import { webhook } from './webhook.ts';

export const caseNames = ['read', 'replay', 'balance', 'send', 'webhook'] as const;

export type CaseName = (typeof caseNames)[number];

export const cases: Readonly<Record<CaseName, Case>> = { read, replay, balance, send, webhook };
