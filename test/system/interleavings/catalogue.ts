/** The operations that change something in a state, each with such states. */
import type { Context } from '../../../src/context/context.ts';
import type { Row } from '../../api/db/rows.ts';
import { undone, type Operation } from './held.ts';
import type { Lane } from './lane.ts';
import { playMoments, repositoryOperations, type Moment, type WritingMoment } from './moments.ts';
import type { Contents, Outcome } from './stored.ts';

/** Moments by the name of their operation. */
export type Catalogue = ReadonlyMap<string, readonly WritingMoment[]>;

/** How many states of each statement are offered to the repository functions, and each keeps. */
const statesOfStatement = 3;
const statesOfFunction = 3;

export async function makeCatalogue(lane: Lane, context: Context): Promise<Catalogue> {
  const moments = await playMoments(lane);
  const catalogue = new Map<string, WritingMoment[]>();
  const keep = async (moment: Moment): Promise<void> => {
    const { name } = moment.operation;
    const touched = await findTouched(lane, moment);
    catalogue.set(name, [...(catalogue.get(name) ?? []), { ...moment, touched }]);
  };
  for (const moment of moments) {
    const [writes] = await findWriting(lane, moment.contents, [moment.operation]);
    if (writes) await keep(moment);
  }
  const states = [...catalogue.values()].flatMap((some) => some.slice(0, statesOfStatement));
  for (const state of states) {
    const wanted = repositoryOperations(context, state.contents).filter(
      ({ name }) => (catalogue.get(name)?.length ?? 0) < statesOfFunction,
    );
    const writing = await findWriting(lane, state.contents, wanted);
    for (const operation of writing) await keep({ ...state, operation });
  }
  return catalogue;
}

/** @returns the operations that write or lock a row in a state. */
async function findWriting(
  lane: Lane,
  contents: Contents,
  operations: readonly Operation[],
): Promise<Operation[]> {
  const writing: Operation[] = [];
  await lane.outcome(contents, async ([session]) => {
    for (const operation of operations) {
      const answer = session?.start(operation, true);
      await session?.paused;
      if (session?.progress === 'held') {
        writing.push(operation);
        session.release(undone);
      }
      await answer;
    }
    return [];
  });
  return writing;
}

async function findTouched(lane: Lane, { contents, operation }: Moment): Promise<Set<string>> {
  const before = await lane.inOrder(contents, []);
  const after = await lane.inOrder(contents, [operation]);
  return new Set([...changedRows(before, after), ...changedRows(after, before)]);
}

/** The names of the rows of one that the other does not have. */
function changedRows({ rows: found }: Outcome, { rows: other }: Outcome): string[] {
  const tables = Object.entries(found).filter(([table]) => table !== 'answers');
  return tables.flatMap(([table, rows]) => {
    const changed = rows.filter((row) => !other[table]?.includes(row));
    return changed.map((row) => `${table} ${nameOfRow(JSON.parse(row) as Row)}`);
  });
}

function nameOfRow(row: Row): string {
  return String(row['id'] ?? row['event_id'] ?? row['transaction_id'] ?? row['user_id']);
}
