/** What every list does alike: it is a table or JSON, and it says when it may be cut. */
import type { Table, Terminal } from './terminal.ts';

interface List<Row> extends Table<Row> {
  /** Its name in the JSON document. */
  readonly name: string;
  readonly json: boolean;
  /** How many rows were asked for at most. */
  readonly limit: number;
  /** How the others are seen. */
  readonly further?: string;
}

/** Prints a list; whoever counts its rows is told when they may not be all. */
export function printList<Row>(terminal: Terminal, list: List<Row>): void {
  const { name, rows, json, limit, further = 'set a greater --limit, or filter them' } = list;
  const mayHaveMore = rows.length >= limit;
  if (json) {
    terminal.json({ [name]: rows, mayHaveMore });
    return;
  }
  terminal.table(list);
  if (mayHaveMore) terminal.remark(`There may be more: ${further}.`);
}
