/** A database whose connection breaks: the caller cannot know whether it committed before. */
import type { Context } from '../../src/context.ts';
import type { Database } from '../../src/db/database.ts';

/** A service that hears nothing of its first statement, whether or not that is carried out. */
export function losingOneAnswer(context: Context, { isCarriedOut = true } = {}): Context {
  let isLost = false;
  const query: Database['query'] = async (statement, parameters) => {
    if (isLost) return context.db.query(statement, parameters);
    isLost = true;
    if (isCarriedOut) await context.db.query(statement, parameters);
    throw connectionLost();
  };
  return { ...context, db: { ...context.db, query } };
}

/** As the operating system tells it. */
export function connectionLost(): Error {
  return Object.assign(new Error('the connection is lost'), { code: 'ECONNRESET' });
}
