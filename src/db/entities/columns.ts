/** Columns and conditions that several tables share. */
import { p } from '@mikro-orm/core';

export { isOneOf } from '../statement.ts';

/** A point in time in milliseconds, the precision of a JavaScript date: no value is rounded. */
export const instant = () => p.datetime().length(3);
