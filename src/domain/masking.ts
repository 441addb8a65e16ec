/** Masks personal data so that only its owner can recognise it. */

const shownAtEnd = 2;

/** Shows the first letter of each word: `A*** S***`. */
export function maskName(name: string): string {
  return name
    .split(' ')
    .map((word) => `${[...word][0] ?? ''}***`)
    .join(' ');
}

/** Shows the first letter and the domain: `a***@example.com`. */
export function maskEmail(email: string): string {
  const [local = '', domain = ''] = email.split('@');
  return `${local.slice(0, 1)}***@${domain}`;
}

/** Shows the last two digits of a document or a phone. */
export function maskNumber(digits: string): string {
  return '*'.repeat(Math.max(0, digits.length - shownAtEnd)) + digits.slice(-shownAtEnd);
}
