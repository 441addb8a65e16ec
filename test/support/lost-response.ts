/** A database whose connection breaks: the caller cannot know whether its statement committed. */
import type { Context } from '../../src/context/context.ts';
import type { Database } from '../../src/db/database.ts';

/** A context that loses the response to its first statement, and the statement too on request. */
export function losingOneResponse(context: Context, { isCarriedOut = true } = {}): Context {
  let isLost = false;
  const query: Database['query'] = async (statement, parameters) => {
    if (isLost) return context.db.query(statement, parameters);
    isLost = true;
    if (isCarriedOut) await context.db.query(statement, parameters);
    throw connectionLost();
  };
  return { ...context, db: { ...context.db, query } };
}

/** The error of the operating system for a broken connection. */
export function connectionLost(): Error {
  return Object.assign(new Error('the connection is lost'), { code: 'ECONNRESET' });
}
