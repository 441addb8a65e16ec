/**
 * The end of a join: the requested sessions by id, user and time, as far as they are active, and
 * their users. It finds them by their ids alone, whatever else the planner knows of active ones.
 */
export const activeSessions = `
      lateral (select * from banking_sessions where id = requested.session_id limit 1) s
          on s.user_id = requested.user_id and s.status = 'ACTIVE'
         and (s.token_expires_at is null or s.token_expires_at > requested.now)
        join users u on u.id = s.user_id and u.status = 'ACTIVE'`;
