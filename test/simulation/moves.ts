/** Changes the moves of the service on purpose, in every statement that makes them. */
import type { Statement } from '../../src/db/database.ts';
import { moveStatements } from '../../src/pix/move-repository.ts';
import { finishWebhookEvent } from '../../src/settlement/event-repository.ts';
import type { Deviation } from './deviation.ts';

/** The columns of a move that can change, and their indexes in the parameters of `pix-move`. */
const places = { from_phases: 1, phase: 2, status: 3, outcome: 5, failure_code: 6 } as const;

/** The index of an event's moves in the parameters of `webhook-finish`. */
export const movesPlace = 10;

type Column = keyof typeof places;
type Move = Readonly<Record<Column, unknown>>;

/** The replaced values of some columns. @param move the move as the service makes it. */
export type ChangedColumns = Partial<Record<Column, (value: unknown, move: Move) => unknown>>;

/** A database that replaces columns of the moves. */
export function changingMoves(changes: ChangedColumns): Deviation {
  const changed = (statement: Statement, parameters: readonly unknown[]): readonly unknown[] => {
    if (statement === moveStatements.move) {
      const move = changeMove(moveFrom(parameters), changes);
      return Object.entries(places).reduce(
        (values, [column, place]) => values.with(place, move[column as Column]),
        parameters,
      );
    }
    if (statement !== finishWebhookEvent) return parameters;
    const moves = JSON.parse(String(parameters[movesPlace])) as Move[];
    const others = moves.map((move) => Object.assign(move, changeMove(move, changes)));
    return parameters.with(movesPlace, JSON.stringify(others));
  };
  return {
    db: (db) => ({
      ...db,
      query: (statement, parameters) => db.query(statement, changed(statement, parameters)),
    }),
  };
}

function moveFrom(parameters: readonly unknown[]): Move {
  const columns = Object.entries(places).map(([column, place]) => [column, parameters[place]]);
  return Object.fromEntries(columns) as Move;
}

function changeMove(move: Move, changes: ChangedColumns): Move {
  const columns = Object.keys(places).map((column) => {
    const value = move[column as Column];
    return [column, changes[column as Column]?.(value, move) ?? value];
  });
  return Object.fromEntries(columns) as Move;
}
