/**
 * Nothing personal and nothing secret comes out: every operation is used, well and badly, at the
 * log's finest level, with the simulated provider and local onboarding.
 */
import { describe } from 'node:test';
import { allFlows, lastFlows } from './flows.ts';
import { onboardingFlows } from './onboarding-flows.ts';
import { watch, watchedEnvironment, watchTheRest } from './watch.ts';
import { makeWorld } from './world.ts';
import { startTestApp } from '../../support/app.ts';

const app = await startTestApp({ environment: { ...watchedEnvironment, STUB_SETTLE_MS: '1' } });

const world = makeWorld(app);

describe('with a simulated provider and local onboarding', () => {
  watch(world, [...allFlows, ...onboardingFlows, ...lastFlows]);
  watchTheRest(world);
});
