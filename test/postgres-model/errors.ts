/** Errors of the model: those of PostgreSQL, and one for SQL that it does not implement. */
import pg from 'pg';

/** The model does not implement this part of the language. */
export class NotModelled extends Error {
  constructor(what: string) {
    super(`the in-memory database does not implement ${what}`);
    this.name = 'NotModelled';
  }
}

interface Fields {
  readonly table?: string;
  readonly column?: string;
  readonly constraint?: string;
}

/** The SQLSTATEs that the model raises, by condition name (PostgreSQL, appendix A). */
export const sqlStates = {
  restrict_violation: '23001',
  not_null_violation: '23502',
  foreign_key_violation: '23503',
  unique_violation: '23505',
  check_violation: '23514',
  cardinality_violation: '21000',
  invalid_text_representation: '22P02',
  character_not_in_repertoire: '22021',
  numeric_value_out_of_range: '22003',
  division_by_zero: '22012',
  invalid_datetime_format: '22007',
  undefined_column: '42703',
  undefined_table: '42P01',
  ambiguous_column: '42702',
  datatype_mismatch: '42804',
  invalid_column_reference: '42P10',
} as const;

/** The error that the driver throws when the server refuses. */
export function refusal(
  condition: keyof typeof sqlStates,
  message: string,
  fields: Fields = {},
): Error {
  const error = new pg.DatabaseError(message, message.length, 'error');
  return Object.assign(error, { severity: 'ERROR', code: sqlStates[condition], ...fields });
}
