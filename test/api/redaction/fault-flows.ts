/** A provider over HTTP that fails in each of its ways, wherever a person's values go. */
import assert from 'node:assert/strict';
import { cpfCheckDigits } from '../../../src/domain/tax-id.ts';
import { effectKinds } from '../../../src/provider/sandbox/fault-language.ts';
import { passUntil } from '../../support/passing-time.ts';
import type { SandboxedApp } from '../../support/sandboxed-app.ts';
import { responds, type Flow } from './flows.ts';
import { applicant, stepsAreCarriedOut } from './onboarding-flows.ts';
import { others, person, secrets } from './values.ts';
import type { World } from './world.ts';

type Use = readonly [path: string, run: (world: World) => Promise<unknown>];

/** What makes the service call each of the provider's paths. */
const uses: readonly Use[] = [
  ['account/balance', ({ call, token }) => call('/accounts/balance', { token })],
  ['account/statement', ({ call, token }) => call('/accounts/statement', { token })],
  ['keys/list', ({ call, token }) => call('/pix/keys', { token })],
  ['keys/dict', (world) => payTo(world, others.payeeEmail)],
  ['payments/qrcode/dynamic', makeCharge],
  ['auth/login', ({ call }) => call('/auth/login', { body: credentials })],
];

const payments: Use = ['payments', (world) => payTo(world, others.payeeDocument)];

const credentials = { email: person.email, password: person.password };

/** Every way to fail, wherever a person's values go. */
export function faultFlows(app: SandboxedApp): Flow[] {
  return [...bankingFaults(app), ...onboardingFaults(app)];
}

/** At the payment, and at one of the other calls in turn. */
function bankingFaults({ sandbox }: SandboxedApp): Flow[] {
  // A refused token ends the session that the other flows need.
  const effects = Object.keys(effectKinds).filter((effect) => effect !== '401');
  return effects.flatMap((effect, index) =>
    [payments, uses[index % uses.length] ?? payments].map(([path, run]) => ({
      name: `${effect} at ${path}`,
      async run(world) {
        sandbox.calls.clear();
        sandbox.queueFaults(`${path}:${effect === 'huge' ? 'huge=1100KB' : effect}#1`);
        await run(world);
        const failed = sandbox.calls.list().filter(({ faults }) => faults.length > 0);
        assert.equal(failed.length, 1, 'the provider was called, and failed');
      },
    })),
  );
}

/** At the registration of a new person, which a job carries to the provider. */
function onboardingFaults({ sandbox }: SandboxedApp): Flow[] {
  return ['5xx-before', '5xx-after', 'html', 'truncated', 'reset-after', '429'].map(
    (effect, index) => ({
      name: `${effect} at onboarding/pf`,
      async run(world) {
        const base = `48${String(index).padStart(7, '0')}`;
        const document = base + cpfCheckDigits(base);
        world.hidden.add('document of another applicant', document);
        const email = `${index}.${others.applicantEmail}`;
        sandbox.calls.clear();
        sandbox.queueFaults(`onboarding/pf:${effect}#1`);
        const body = { ...applicant, document, email };
        const registered = await responds(201, world.call('/onboarding/pf', { body }));
        world.hidden.add('application id', registered.body.id);
        await passUntil(world.app.clock, stepsAreCarriedOut(world));
        const failed = sandbox.calls.list().filter(({ faults }) => faults.length > 0);
        assert.equal(failed.length, 1, 'the provider was called, and failed');
        const path = `/onboarding/${registered.body.id}`;
        await responds(202, world.call(`${path}/sync`, { method: 'POST' }));
        await passUntil(world.app.clock, stepsAreCarriedOut(world));
      },
    }),
  );
}

let made = 0;
const nextKey = (): string => `${secrets.idempotencyKey}-fault-${(made += 1)}`;

function payTo({ call, token }: World, pixKey: string): Promise<unknown> {
  const body = { pix_key: pixKey, amount: 1, description: secrets.description };
  return call('/pix/send', { token, key: nextKey(), body });
}

function makeCharge({ call, token }: World): Promise<unknown> {
  const body = { type: 'dynamic', amount: 1, payer_name: others.payerName };
  return call('/pix/charge', { token, key: nextKey(), body });
}
