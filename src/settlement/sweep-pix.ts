import { sweepPixTransactions } from './sweep.ts';
import { jobCallOptions, type JobHandler } from '../jobs/job.ts';

/** Ends the transactions of dead processes, where their outcome is known and never by guess. */
export const sweepPix: JobHandler = {
  everyMs: 60_000,
  async run(context, job) {
    await sweepPixTransactions(context, jobCallOptions(job));
  },
};
