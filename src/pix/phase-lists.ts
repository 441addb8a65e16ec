/** Phases as lists in SQL. */
import { phasesBeforePaying } from '../domain/pix.ts';

/** The phases before PAYING: `phase in ${beforePaying}`. */
export const beforePaying = `(${phasesBeforePaying.map((phase) => `'${phase}'`).join(', ')})`;
