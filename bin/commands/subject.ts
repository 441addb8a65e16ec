/** `ponte subject`: exports and erases the personal data of a user, as the law requires. */
import type { Context, Declare } from '../context.ts';
import { examples, parseUser, withBy, withChangeOptions, type ChangeOptions } from '../options.ts';

export const declare: Declare = (noun, run) => {
  noun.addHelpText('after', examples(exportExample, eraseExample));

  withBy(noun.command('export'))
    .description('print all that is stored about a user as one JSON document, without secrets')
    .argument('<user>', 'id or e-mail', parseUser)
    .requiredOption('--reason <text>', 'why; required; it is recorded: no personal data')
    .addHelpText('after', examples(exportExample))
    .action(run(exportAll));

  withChangeOptions(noun.command('erase'))
    .description('erase the personal data of a user for good; payments stay, without names')
    .argument('<user>', 'id or e-mail', parseUser)
    .requiredOption('--reason <text>', 'why; required; it is recorded: no personal data')
    .addHelpText('after', examples(eraseExample))
    .action(run(erase));
};

const exportExample = "ponte subject export 42 --reason 'request 7' > subject-42.json";
const eraseExample = "ponte subject erase maria@example.com --reason 'request 7'";

interface DecisionOptions extends ChangeOptions {
  readonly reason: string;
}

async function exportAll({ call, terminal }: Context, user: string, { reason }: DecisionOptions) {
  terminal.json(await call('subject export', { user, reason }));
}

async function erase(
  { call, confirm, terminal }: Context,
  reference: string,
  options: DecisionOptions,
) {
  const { id, email } = await call('user identify', { user: reference });
  await confirm(`Erase user ${id} (${email}) for good? It cannot be undone.`, options);
  const erased = await call('subject erase', { user: String(id), reason: options.reason });
  const { transactions, documents, events, keptEvents, describedByOthers } = erased;
  const removed = `${documents} documents and ${events} payloads of events were removed`;
  const sentence = `User ${id} is erased: ${removed}; ${transactions} transactions stay.`;
  terminal.result(erased, options, sentence);
  if (describedByOthers > 0) {
    const what = `payments of other customers may name the person in their description`;
    terminal.note(`${describedByOthers} ${what}: they stay, as the words of those customers.`);
  }
  if (keptEvents.length > 0) {
    const rest = 'they keep their payload until they are settled';
    terminal.note(
      `Events that are not settled name the person: ${keptEvents.join(', ')}; ${rest}.`,
    );
  }
}
