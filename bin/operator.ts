/** Who types: the name that is written down with a decision. */
import { userInfo } from 'node:os';

/** A user that the system has no name for, as in a container, has a number. */
export function operator(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
