/** Mutations of payments of dynamic codes: see `mutations.ts`. */
import { sha256 } from '../../src/security/digests.ts';
import { sendPix } from '../../src/pix/send-pix.ts';
import { limitStatements } from '../../src/ledger/spending-limit-repository.ts';
import type { CodeCharge, Provider } from '../../src/provider/provider.ts';
import { decodeBrCode } from '../../src/domain/br-code.ts';
import { intercepted } from '../support/intercepted.ts';
import type { Deviation, Mutation } from './deviation.ts';

type Call = Parameters<typeof sendPix.run>[1];

/** Sends that read the look-up of a code in another way. */
function readingCodes(change: (call: Call, nowMs: number) => object): Deviation {
  return {
    codes: true,
    send: {
      ...sendPix,
      run(context, call) {
        const open = (sealed: Buffer, owner: string): Buffer => {
          const opened = context.sealer.open(sealed, owner);
          if (!owner.startsWith('code-look-up:')) return opened;
          const content = JSON.parse(opened.toString('utf8')) as object;
          const changed = change(call, context.clock.now().getTime());
          return Buffer.from(JSON.stringify(Object.assign(content, changed)));
        };
        return sendPix.run({ ...context, sealer: { ...context.sealer, open } }, call);
      },
    },
  };
}

/** Readings of a code that say something else than the bank. */
function answering(change: (charge: CodeCharge) => CodeCharge): Deviation {
  return {
    codes: true,
    wire: (wire: Provider) => ({
      ...wire,
      readCode: async (request) => change(await wire.readCode(request)),
    }),
  };
}

function digestAddress({ input }: Call): string {
  const code = decodeBrCode(input.body.copy_paste ?? '');
  return code.kind === 'dynamic' ? sha256(code.url).toString('base64url') : '';
}

/** A judgement that does not see which code is paid. */
const paidTwice: Deviation = {
  codes: true,
  db: (db) =>
    intercepted(db, (run) => (statement, parameters) => {
      const isJudged = statement === limitStatements.read;
      return run(statement, isJudged ? { ...parameters, codeDigest: null } : parameters);
    }),
};

export const mutationsOfCodes: readonly Mutation[] = [
  { name: 'a code is paid with two idempotency keys', deviation: paidTwice },
  {
    name: 'an old look-up of a code is paid',
    deviation: readingCodes((_call, nowMs) => ({ askedMs: nowMs })),
  },
  {
    name: 'a look-up of another code is paid',
    deviation: readingCodes((call) =>
      call.input.body.copy_paste === undefined ? {} : { address: digestAddress(call) },
    ),
  },
  {
    name: 'a code is paid with the amount of an earlier day',
    deviation: answering((charge) => ({
      ...charge,
      amounts: { ...charge.amounts, isChangeable: true, maxCents: null },
    })),
  },
  {
    name: 'a code is paid to another payee than confirmed',
    deviation: answering((charge) => ({ ...charge, document: '11222333000181', name: 'Loja' })),
  },
];
