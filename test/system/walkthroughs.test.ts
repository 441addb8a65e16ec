/** The walkthroughs succeed against a service, and again against the same one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { root, startOwnService, type OwnService } from './service-process.ts';

const folder = join(root, 'contract', 'walkthroughs');
const scripts = readdirSync(folder);

/** What each script prints, in this order. */
const promised: Readonly<Record<string, readonly RegExp[]>> = {
  'account.sh': [
    /# 1\. log in\nHTTP\/1\.1 200 OK/,
    /"bank":\{"ispb":"11165756",\s+"name":"GLOBAL SCM LTDA"\}/,
    /# 4\. send a Pix\nHTTP\/1\.1 200 OK\nPix-Outcome: accepted/,
    /"status":"COMPLETED"\}/,
    /Idempotency-Replayed: true/,
    /# 8\. the statement[^]*"amount":150\.5,\s+"status":"COMPLETED"/,
    /# 10\. the token is now invalid\nHTTP\/1\.1 401 Unauthorized/,
  ],
  'code.sh': [
    /"state":"PAYABLE","payee":\{"name":"Pessoa de Desenvolvimento"/,
    /# its payment, by this look-up\n\{"transaction_id"[^\n]*\n?\{[^\n]*"status":"COMPLETED"/,
    /# a second payment[^\n]*\n\{"message":[^\n]*"copy_paste"/,
  ],
  'dispute.sh': [/# send\nCOMPLETED/, /# dispute it\nOPEN/, /ACCEPTED, 30\n/],
  'keys.sh': [/# create\n\{"data":\{"key":/, /# list\n1\n/, /# delete\n.*"USER_REQUESTED"/],
  'limits.sh': [
    /# the limits[^\n]*\n.*"own":null/,
    /# less applies at once\n.*"own":5000/,
    /# a send over the limit is refused\n.*"errors":\{"amount"/,
    /# more applies after 24 hours\n.*"pending_own":\{"amount":9000/,
    /# the amount that applies cancels it\n(?!.*pending_own).*"own":5000/,
  ],
  'onboarding.sh': [
    /prova_vida kyc account\nAPPROVED/,
    /Carla Dias\n0001/,
    /# 7\. and pays\nCOMPLETED/,
  ],
  'payee.sh': [
    /"name":"Recebedor de Teste"[^\n]*\n(?:PROCESSING|COMPLETED)/,
    /"payee_name":"PESSOA DE DESENVOLVIMENTO"[^\n]*\n(?:PROCESSING|COMPLETED)/,
  ],
  'refund.sh': [/# send\nCOMPLETED/, /"type":"PIX_REFUND_IN"\n"amount":40\n"return_id":"D\w{31}"/],
  'return.sh': [
    /# 15 of it go back\n\{"transaction_id"/,
    /"status":"COMPLETED"\}/,
    /# 30 more would exceed[^\n]*\n.*R\$ 25\.00/,
  ],
};

/** The first text that is missing; what comes before is not searched again. */
function findMissing(script: string, output: string): RegExp | undefined {
  let rest = output;
  return promised[script]?.find((text) => {
    const { index = 0, 0: found } = text.exec(rest) ?? {};
    if (found !== undefined) rest = rest.slice(index + found.length);
    return found === undefined;
  });
}

/** Waits without blocking this process: it reads the log of the service, whose pipe fills up. */
async function run(script: string, url: string): Promise<{ code: unknown; stdout: string }> {
  const { PATH = '' } = process.env;
  const options = { env: { PATH, PONTE_URL: url }, timeout: 60_000 };
  try {
    const { stdout } = await promisify(execFile)('bash', [join(folder, script)], options);
    return { code: 0, stdout };
  } catch (error) {
    const { code, stdout } = error as { readonly code: unknown; readonly stdout: string };
    return { code, stdout };
  }
}

describe('a walkthrough', () => {
  let service: OwnService;

  before(async () => {
    service = await startOwnService();
  });

  after(() => service.stop());

  it('passes twice on one service', async () => {
    assert.deepEqual(scripts.toSorted(), Object.keys(promised));
    for (const script of [...scripts, ...scripts]) {
      const { code, stdout } = await run(script, service.url);
      assert.equal(code, 0, `${script}\n${stdout}`);
      // The statement lists what code.sh has seen refused.
      const failed = /"transaction_id":"[^"]*", "status":"FAILED"/;
      assert.doesNotMatch(stdout, failed, script);
      assert.equal(findMissing(script, stdout), undefined, `${script}\n${stdout}`);
    }
  });

  it('stops at the first error', async (t) => {
    // This service does not have the user of the scripts.
    const refusing = await startOwnService({ PROVIDER_EMAIL: 'other@ponte.test' });
    t.after(refusing.stop);
    // These two make a customer of their own.
    const others = scripts.filter((name) => name !== 'onboarding.sh' && name !== 'limits.sh');
    for (const script of others) {
      const { code, stdout } = await run(script, refusing.url);
      assert.notEqual(code, 0, script);
      assert.ok(!stdout.includes('PROCESSING'), stdout);
    }
  });
});
