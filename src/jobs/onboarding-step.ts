import { stepNames } from '../domain/onboarding.ts';
import { refreshKyc } from '../services/onboarding-kyc.ts';
import { carryOutStep } from '../services/onboarding-work.ts';
import { findApplicationOf } from '../services/onboarding.ts';
import { callOptionsOf, type JobHandler } from './job.ts';

/** Carries out a step of an application at the provider; where onboarding is local, nothing. */
export const onboardingStep: JobHandler = {
  async run(context, job) {
    const { userId } = job.payload;
    const name = stepNames.find((one) => one === job.payload['step']);
    if (typeof userId !== 'number' || !name) throw new TypeError('the job names no step');
    if (context.config.onboardingLocalOnly) return undefined;
    const options = callOptionsOf(job);
    if (name === 'kyc' || name === 'account') {
      const application = await findApplicationOf(context, userId);
      if (application) await refreshKyc(context, application, options);
    } else {
      await carryOutStep(context, { userId, name, options });
    }
    return undefined;
  },
};
