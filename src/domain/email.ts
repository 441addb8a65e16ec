/** RFC 5321, section 4.5.3.1.3: a path of 256 octets less its brackets. */
export const MAX_EMAIL_LENGTH = 254;

const LOCAL_PART = /^[a-z0-9.!#$&'*+/=?^_{}~`|-]+$/i;

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * Whether a text is an e-mail address by DICT's rule for e-mail keys. It checks label by label,
 * because DICT's own pattern nests repetitions, which a hostile text can exploit.
 */
export function isEmail(text: string): boolean {
  if (text.length > MAX_EMAIL_LENGTH) return false;
  const [local, domain, ...rest] = text.split('@');
  if (local === undefined || domain === undefined || rest.length > 0) return false;
  return LOCAL_PART.test(local) && domain.split('.').every((label) => LABEL.test(label));
}
