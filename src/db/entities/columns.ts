/** Columns that several tables share, written the same way everywhere. */
import { p } from '@mikro-orm/core';

/** A point in time, to the millisecond: what a JavaScript date holds, so that none is rounded. */
export const instant = () => p.datetime().length(3);
