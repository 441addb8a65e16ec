import { stepNames } from '../domain/onboarding.ts';
import { refreshKyc } from '../onboarding/kyc.ts';
import { runStep } from '../onboarding/run-step.ts';
import { findApplicationByUser } from './application-repository.ts';
import { changeApplication } from './application.ts';
import { jobCallOptions, type JobHandler } from '../jobs/job.ts';

/**
 * Carries out a step of an application at the provider. A remaining job, after onboarding has
 * become local, carries the steps out here; the decision waits until it is requested.
 */
export const onboardingStep: JobHandler = {
  // As many as its calls to the provider have places (see provider/resilience/call-policy.ts).
  concurrency: 16,
  async run(context, job) {
    const { userId } = job.payload;
    const name = stepNames.find((one) => one === job.payload['step']);
    if (typeof userId !== 'number' || !name) throw new TypeError('the job names no step');
    const options = jobCallOptions(job);
    if (context.config.onboardingLocalOnly) {
      const application = await findApplicationByUser(context, userId);
      if (application) await changeApplication(context, application.id, (stored) => stored);
    } else if (name === 'kyc' || name === 'account') {
      const application = await findApplicationByUser(context, userId);
      if (application) await refreshKyc(context, application, options);
    } else {
      await runStep(context, { userId, name, options });
    }
    return undefined;
  },
};
