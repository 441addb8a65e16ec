import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  accountOpened,
  areEnoughDocuments,
  beginStep,
  decide,
  endStep,
  enterAnalysis,
  failStep,
  isFinal,
  isReady,
  decisionWithoutProvider,
  newProgress,
  queueStep,
  stepNames,
  getStep,
  stepsBeforeKyc,
  type Progress,
  type StepName,
} from '../../../src/domain/onboarding.ts';

const now = new Date('2026-05-24T12:00:00.000Z');

function submitted(...names: StepName[]): Progress {
  return names.reduce((sum, name) => queueStep(sum, name, now), newProgress());
}

function withDone(progress: Progress, ...names: readonly StepName[]): Progress {
  return names.reduce((sum, name) => endStep(sum, name, { now }), progress);
}

function listStatuses(progress: Progress, ...names: StepName[]): string[] {
  return names.map((name) => {
    const { status, error } = getStep(progress, name);
    return error ? `${status} ${error}` : status;
  });
}

const underAnalysis = enterAnalysis(withDone(newProgress(), ...stepsBeforeKyc), now);

describe('a new application', () => {
  test('has every step in order, none of them submitted', () => {
    const { steps, ...rest } = newProgress();
    assert.deepEqual(rest, { status: 'IN_PROGRESS', kycStatus: null, contaBancariaCriada: false });
    assert.deepEqual(
      steps.map(({ name }) => name),
      stepNames,
    );
    for (const step of steps) {
      const { name: _, ...state } = step;
      assert.deepEqual(state, {
        status: 'pending',
        attempts: 0,
        updatedAt: null,
        error: null,
        revision: 0,
      });
    }
  });

  test('has no step of another name', () => {
    assert.throws(() => getStep({ steps: [] }, 'address'), RangeError);
  });
});

describe('giving a step', () => {
  test('queues it with a new revision each time, and forgets its fault', () => {
    const failed = failStep(submitted('address'), 'address', { error: 'PROVIDER_REJECTED', now });
    const again = getStep(queueStep(failed, 'address', now), 'address');
    assert.deepEqual(again, {
      name: 'address',
      status: 'queued',
      attempts: 0,
      updatedAt: now.toISOString(),
      error: null,
      revision: 2,
    });
  });

  test('queues what it waits for again where that has failed, and only there', () => {
    const failed = failStep(submitted('registration'), 'registration', {
      error: 'PROVIDER_TIMEOUT',
      now,
    });
    const both = queueStep(failed, 'address', now);
    assert.deepEqual(listStatuses(both, 'registration', 'address'), ['queued', 'queued']);
    const alone = queueStep(withDone(submitted('registration'), 'registration'), 'address', now);
    assert.deepEqual(listStatuses(alone, 'registration', 'address'), ['done', 'queued']);
  });

  test('does not change its argument', () => {
    const before = newProgress();
    queueStep(before, 'address', now);
    assert.deepEqual(before, newProgress());
  });
});

describe('a step is ready', () => {
  test('once it is submitted and the person is registered', () => {
    const waiting = submitted('registration', 'address');
    assert.ok(isReady(waiting, 'registration'));
    assert.ok(!isReady(waiting, 'address'));
    const registered = withDone(waiting, 'registration');
    assert.ok(isReady(registered, 'address'));
    assert.ok(!isReady(registered, 'proposal'));
  });

  test('the confirmation once the validation is requested too', () => {
    const names = ['electronic_validation', 'electronic_validation_confirm'] as const;
    const waiting = withDone(submitted('registration', ...names), 'registration');
    assert.ok(!isReady(waiting, 'electronic_validation_confirm'));
    const requested = withDone(waiting, 'electronic_validation');
    assert.ok(isReady(requested, 'electronic_validation_confirm'));
  });
});

describe('a step that fails', () => {
  test('fails those that wait for it, and no others', () => {
    const names = ['electronic_validation', 'electronic_validation_confirm', 'address'] as const;
    const waiting = withDone(submitted('registration', ...names), 'registration');
    const failed = failStep(waiting, 'electronic_validation', { error: 'PROVIDER_REJECTED', now });
    assert.deepEqual(listStatuses(failed, ...names, 'prova_vida'), [
      'failed PROVIDER_REJECTED',
      'failed EARLIER_STEP_FAILED',
      'queued',
      'pending',
    ]);
  });

  test('leaves what is done alone', () => {
    const progress = withDone(submitted('registration', 'address'), 'address');
    const failed = failStep(progress, 'registration', { error: 'PROVIDER_NOT_FOUND', now });
    assert.deepEqual(listStatuses(failed, 'registration', 'address'), [
      'failed PROVIDER_NOT_FOUND',
      'done',
    ]);
  });
});

test('a try is counted without moving the step', () => {
  const begun = getStep(beginStep(submitted('address'), 'address', now), 'address');
  assert.deepEqual([begun.status, begun.attempts, begun.revision], ['queued', 1, 1]);
});

describe('the analysis', () => {
  test('begins when every step before it is done', () => {
    assert.deepEqual(
      [underAnalysis.status, underAnalysis.kycStatus],
      ['UNDER_ANALYSIS', 'PENDING'],
    );
    assert.deepEqual(listStatuses(underAnalysis, 'kyc', 'account'), ['queued', 'pending']);
  });

  for (const missing of stepsBeforeKyc) {
    test(`waits for ${missing}`, () => {
      const others = stepsBeforeKyc.filter((name) => name !== missing);
      const progress = withDone(newProgress(), ...others);
      assert.equal(enterAnalysis(progress, now), progress);
    });
  }

  test('does not begin again', () => {
    const approved = decide(underAnalysis, 'APPROVED', now);
    for (const progress of [underAnalysis, approved]) {
      assert.equal(enterAnalysis(progress, now), progress);
    }
  });
});

describe('a decision', () => {
  test('approves, and the account is still to be opened', () => {
    const approved = decide(underAnalysis, 'APPROVED', now);
    assert.deepEqual([approved.status, approved.kycStatus], ['APPROVED', 'APPROVED']);
    assert.deepEqual(listStatuses(approved, 'kyc', 'account'), ['done', 'queued']);
    assert.equal(approved.contaBancariaCriada, false);
    const opened = accountOpened(approved, now);
    assert.equal(opened.contaBancariaCriada, true);
    assert.deepEqual(listStatuses(opened, 'account'), ['done']);
    assert.equal(accountOpened(opened, now), opened, 'once');
  });

  test('rejects, and there is no account', () => {
    const rejected = decide(underAnalysis, 'REJECTED', now);
    assert.deepEqual([rejected.status, rejected.kycStatus], ['REJECTED', 'REJECTED']);
    assert.deepEqual(listStatuses(rejected, 'kyc', 'account'), ['done', 'not_required']);
    assert.equal(accountOpened(rejected, now), rejected);
  });

  test('is made once, and only under analysis', () => {
    for (const [first, second] of [
      ['APPROVED', 'REJECTED'],
      ['REJECTED', 'APPROVED'],
    ] as const) {
      const decided = decide(underAnalysis, first, now);
      assert.equal(decide(decided, second, now), decided);
      assert.ok(isFinal(decided));
    }
    const early = newProgress();
    assert.equal(decide(early, 'APPROVED', now), early);
    assert.ok(!isFinal(early) && !isFinal(underAnalysis));
  });

  test('made here looks at the end of the phone', () => {
    assert.equal(decisionWithoutProvider('+5511987654322'), 'REJECTED');
    for (const phone of ['+5511987654321', '+5511987654323', '+5522222222220']) {
      assert.equal(decisionWithoutProvider(phone), 'APPROVED');
    }
  });
});

test('RG or CNH, the proof of residence and the selfie are enough, and nothing less', () => {
  for (const types of [
    [1, 5, 6],
    [2, 5, 6],
    [6, 21, 5, 1, 2],
  ])
    assert.ok(areEnoughDocuments(types));
  for (const types of [[], [1, 2], [5, 6], [1, 6], [2, 5], [3, 5, 6]]) {
    assert.ok(!areEnoughDocuments(types));
  }
});
