/** The same with a provider over HTTP, which fails in each of its ways, and its onboarding. */
import { describe } from 'node:test';
import { faultFlows } from './fault-flows.ts';
import { allFlows, lastFlows } from './flows.ts';
import { onboardingFlows } from './onboarding-flows.ts';
import { person } from './values.ts';
import { watch, watchedEnvironment, watchTheRest } from './watch.ts';
import { makeWorld } from './world.ts';
import { startSandboxedApp } from '../../support/sandboxed-app.ts';

const app = await startSandboxedApp({ ...watchedEnvironment, ONBOARDING_LOCAL_ONLY: 'false' });

// The bank knows the person, or it refuses the login: another document is another holder.
app.sandbox.bank.onboarding.register(person);

const world = makeWorld(app);

describe('with a provider over HTTP, its faults and its onboarding', () => {
  watch(world, [...allFlows, ...onboardingFlows, ...faultFlows(app), ...lastFlows]);
  watchTheRest(world);
});
