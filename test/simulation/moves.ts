/** Changes the moves of the service on purpose, in every statement that makes them. */
import type { CallParameters } from '../../src/db/batcher.ts';
import type { Statement } from '../../src/db/database.ts';
import { moveStatements } from '../../src/ledger/move-repository.ts';
import { finishWebhookEvent } from '../../src/settlement/event-repository.ts';
import type { Deviation } from './deviation.ts';

/** The columns of a move that can change, and their parameters of `pix-move`. */
const parameterNames = {
  from_phases: 'fromPhases',
  phase: 'phase',
  status: 'status',
  outcome: 'outcome',
  failure_code: 'failureCode',
} as const;

type Column = keyof typeof parameterNames;
type Move = Readonly<Record<Column, unknown>>;

const columns = Object.entries(parameterNames) as readonly (readonly [Column, string])[];

/** The replaced values of some columns. @param move the move as the service makes it. */
export type ChangedColumns = Partial<Record<Column, (value: unknown, move: Move) => unknown>>;

/** A database that replaces columns of the moves. */
export function changingMoves(changes: ChangedColumns): Deviation {
  return {
    db: (db) => ({
      ...db,
      query: (statement, parameters) =>
        db.query(statement, changed(changes, statement, parameters as CallParameters) as never),
    }),
  };
}

function changed(
  changes: ChangedColumns,
  { name }: Pick<Statement, 'name'>,
  parameters: CallParameters,
): CallParameters {
  if (name === moveStatements.move.name) {
    const stored = columns.map(([column, parameter]) => [column, parameters[parameter]]);
    const move = changeMove(Object.fromEntries(stored) as Move, changes);
    const others = columns.map(([column, parameter]) => [parameter, move[column]]);
    return { ...parameters, ...Object.fromEntries(others) };
  }
  if (name !== finishWebhookEvent.name) return parameters;
  const moves = JSON.parse(String(parameters['moves'])) as Move[];
  const others = moves.map((move) => Object.assign(move, changeMove(move, changes)));
  return { ...parameters, moves: JSON.stringify(others) };
}

function changeMove(move: Move, changes: ChangedColumns): Move {
  const others = columns.map(([column]) => {
    const value = move[column];
    return [column, changes[column]?.(value, move) ?? value];
  });
  return Object.fromEntries(others) as Move;
}
