-- Every SQL statement that the sources declare, as PostgreSQL gets it; only the layout differs.
-- Written by `npm run docs`: change the file that a statement names, not this one.
--
-- "batched": each parameter is an array with an element for each concurrent call (batcher.ts).
-- "indexed": runs, as batched ones do, on connections whose planner uses indexes only (pool.ts).
--
-- Not here, because no file declares their text: begin, commit, rollback and savepoints, LISTEN and
-- NOTIFY, the lock of the migrations (pool.ts, rolled-back.ts, notifications.ts, database.ts,
-- migrate.ts), and what MikroORM writes at run time for the entities of
-- src/auth/security-event-repository.ts
-- src/auth/session-repository.ts
-- src/auth/user-repository.ts
-- src/db/migrate.ts
-- src/onboarding/application-repository.ts
-- src/onboarding/document-repository.ts
-- src/operator/job-admin-repository.ts
-- src/operator/reconcile-repository.ts

-- src/accounts/account-repository.ts: account-held-cpf
-- $1 document, $2 userId
select
  exists (
    select
    from
      accounts other
    where
      length(other.document) = 11
      and other.document = $1::text
      and other.status in ('ACTIVE', 'BLOCKED')
      and other.user_id <> $2::int
  )
  or exists (
    select
    from
      onboarding_applications o
      join users u on u.id = o.user_id
    where
      u.document = $1::text
      and o.user_id <> $2::int
      and o.status = 'APPROVED'
      and not exists (
        select
        from
          accounts
        where
          user_id = o.user_id
      )
  ) as held;

-- src/accounts/account-repository.ts: account-lock-cpf
-- $1 document
select
  id
from
  users
where
  document = $1::text
order by
  id
for update;

-- src/accounts/account-repository.ts: account-open-at-provider
-- $1 userId, $2 agency, $3 accountNumber, $4 document, $5 clientToken, $6 now
insert into
  accounts as a (
    user_id,
    provider,
    agency,
    account_number,
    document,
    status,
    provider_client_token,
    created_at,
    updated_at
  )
values
  (
    $1::int,
    'provider',
    $2::text,
    $3::text,
    $4::text,
    'ACTIVE',
    $5::text,
    $6::timestamptz,
    $6::timestamptz
  )
on conflict (user_id) do update
set
  agency = excluded.agency,
  account_number = excluded.account_number,
  (balance, balance_read_at, pix_keys, pix_keys_version, renumbered_at) = (
    select
      a.balance,
      a.balance_read_at,
      a.pix_keys,
      a.pix_keys_version,
      a.renumbered_at
    where
      (
        a.provider = 'provider'
        and (
          ltrim(regexp_replace(a.agency, '\W', '', 'g'), '0') <> ltrim(regexp_replace(excluded.agency, '\W', '', 'g'), '0')
        ) is not true
        and (
          ltrim(regexp_replace(a.account_number, '\W', '', 'g'), '0') <> ltrim(regexp_replace(excluded.account_number, '\W', '', 'g'), '0')
        ) is not true
      )
    union all
    select
      null,
      null,
      null,
      (
        select
          coalesce(max(pix_keys_version), 0) + 1
        from
          accounts
      ),
      case
        when a.provider = 'provider' then $6::timestamptz
      end
    where
      not (
        a.provider = 'provider'
        and (
          ltrim(regexp_replace(a.agency, '\W', '', 'g'), '0') <> ltrim(regexp_replace(excluded.agency, '\W', '', 'g'), '0')
        ) is not true
        and (
          ltrim(regexp_replace(a.account_number, '\W', '', 'g'), '0') <> ltrim(regexp_replace(excluded.account_number, '\W', '', 'g'), '0')
        ) is not true
      )
  ),
  provider_client_token = coalesce(excluded.provider_client_token, a.provider_client_token),
  updated_at = excluded.updated_at
where
  a.provider = 'provider'
returning
  id;

-- src/accounts/account-repository.ts: account-open-local
-- $1 userId, $2 agency, $3 accountNumber, $4 document, $5 now
insert into
  accounts (user_id, provider, agency, account_number, document, status, created_at, updated_at)
values
  ($1::int, 'local', $2::text, $3::text, $4::text, 'ACTIVE', $5::timestamptz, $5::timestamptz)
on conflict (agency, account_number)
where
  provider = 'local' do nothing
returning
  id;

-- src/accounts/account-repository.ts: account-renumbered
-- $1 userId, $2 since
select
from
  accounts
where
  user_id = $1::int
  and renumbered_at > $2::timestamptz - interval '1 minute';

-- src/accounts/account-repository.ts: ops-account-move-status
-- $1 userId, $2 from, $3 to, $4 now
update accounts
set
  status = $3::text,
  updated_at = $4::timestamptz
where
  user_id = $1::int
  and status = $2::text
returning
  id;

-- src/accounts/account-repository.ts: ops-account-status
-- $1 userId
select
  status
from
  accounts
where
  user_id = $1::int;

-- src/accounts/account-repository.ts: provider-account-keep
-- $1 userId, $2 agency, $3 accountNumber, $4 document, $5 companyId, $6 clientToken, $7 now
with
  applicant as (
    select
      o.id,
      o.status,
      o.conta_bancaria_criada,
      u.document
    from
      onboarding_applications o
      join users u on u.id = o.user_id
    where
      o.user_id = $1::int
  ),
  before as (
    select
      provider = 'local' as is_local
    from
      accounts
    where
      user_id = $1::int
  ),
  kept as (
    insert into
      accounts as a (
        user_id,
        provider,
        agency,
        account_number,
        document,
        status,
        provider_company_id,
        provider_client_token,
        created_at,
        updated_at
      )
    select
      $1::int,
      'provider',
      $2::text,
      $3::text,
      coalesce(
        (
          select
            document
          from
            applicant
        ),
        case
          when not exists (
            select
            from
              accounts other
            where
              length(other.document) = 11
              and other.document = $4::text
              and other.status in ('ACTIVE', 'BLOCKED')
              and other.user_id <> $1::int
          ) then $4::text
        end
      ),
      'ACTIVE',
      $5::text,
      $6::text,
      $7::timestamptz,
      $7::timestamptz
    where
      not exists (
        select
        from
          applicant
        where
          status <> 'APPROVED'
      )
    on conflict (user_id) do update
    set
      provider = 'provider',
      (balance, balance_read_at, pix_keys, pix_keys_version, renumbered_at) = (
        select
          a.balance,
          a.balance_read_at,
          a.pix_keys,
          a.pix_keys_version,
          a.renumbered_at
        where
          (
            a.provider = 'provider'
            and (
              ltrim(regexp_replace(a.agency, '\W', '', 'g'), '0') <> ltrim(regexp_replace(excluded.agency, '\W', '', 'g'), '0')
            ) is not true
            and (
              ltrim(regexp_replace(a.account_number, '\W', '', 'g'), '0') <> ltrim(regexp_replace(excluded.account_number, '\W', '', 'g'), '0')
            ) is not true
          )
        union all
        select
          null,
          null,
          null,
          (
            select
              coalesce(max(pix_keys_version), 0) + 1
            from
              accounts
          ),
          case
            when a.provider = 'provider' then $7::timestamptz
          end
        where
          not (
            a.provider = 'provider'
            and (
              ltrim(regexp_replace(a.agency, '\W', '', 'g'), '0') <> ltrim(regexp_replace(excluded.agency, '\W', '', 'g'), '0')
            ) is not true
            and (
              ltrim(regexp_replace(a.account_number, '\W', '', 'g'), '0') <> ltrim(regexp_replace(excluded.account_number, '\W', '', 'g'), '0')
            ) is not true
          )
      ),
      agency = coalesce(excluded.agency, a.agency),
      account_number = coalesce(excluded.account_number, a.account_number),
      document = coalesce(excluded.document, a.document),
      provider_company_id = coalesce(excluded.provider_company_id, a.provider_company_id),
      provider_client_token = coalesce(excluded.provider_client_token, a.provider_client_token),
      updated_at = $7::timestamptz
    where
      a.provider = 'provider'
      or (
        excluded.agency <> ''
        and excluded.account_number <> ''
      )
    returning
      agency,
      account_number
  )
select
  applicant.id as "applicationId",
  kept.agency,
  kept.account_number as "accountNumber",
  coalesce(before.is_local, false) as "replacesLocal"
from
  applicant
  cross join kept
  left join before on true
where
  (
    not applicant.conta_bancaria_criada
    or before.is_local
  )
  and kept.agency is not null
  and kept.account_number is not null;

-- src/accounts/account-repository.ts: provider-balance-keep
-- $1 accountId, $2 balance, $3 now
update accounts
set
  balance = $2::numeric,
  balance_read_at = $3::timestamptz
where
  id = $1::int;

-- src/accounts/pix-key-repository.ts: account-keys-add
-- $1 accountId, $2 keys, $3 seen
with
  locked as (
    select
      id,
      pix_keys,
      coalesce(pix_keys_version, 0) > $3::bigint as has_changed
    from
      accounts
    where
      id = $1::int
      or pix_keys && $2::text[]
    order by
      id
    for update
  ),
  holders as (
    select
      locked.*
    from
      locked
      join locked lister on lister.id = $1::int
    where
      locked.id = lister.id
      or not (
        locked.has_changed
        and lister.has_changed
      )
  ),
  certain as (
    select
      array(
        select
          key
        from
          unnest($2::text[]) as key
        where
          not exists (
            select
            from
              holders
            where
              has_changed
              and id <> $1::int
              and pix_keys @> array[key]
          )
      ) as keys
  )
update accounts a
set
  pix_keys = case
    when a.id = $1::int
    and holders.has_changed then a.pix_keys
    else array(
      select
        key
      from
        unnest(a.pix_keys) as key
      where
        key <> all ($2::text[])
    ) || case
      when a.id = $1::int then certain.keys
      else '{}'
    end
  end,
  pix_keys_version = (
    select
      coalesce(max(pix_keys_version), 0) + 1
    from
      accounts
  )
from
  holders,
  certain
where
  a.id = holders.id;

-- src/accounts/pix-key-repository.ts: account-keys-forget
-- $1 accountId, $2 key
with
  stored as (
    select
      pix_keys @> array[$2::text] as has_key
    from
      accounts
    where
      id = $1::int
    for update
  )
update accounts
set
  pix_keys = array_remove(pix_keys, $2::text),
  pix_keys_version = (
    select
      coalesce(max(pix_keys_version), 0) + 1
    from
      accounts
  )
from
  stored
where
  id = $1::int
returning
  case
    when stored.has_key then pix_keys_version
  end as version;

-- src/accounts/pix-key-repository.ts: account-keys-keep
-- $1 accountId, $2 keys, $3 seen
with
  locked as (
    select
      id,
      pix_keys,
      coalesce(pix_keys_version, 0) > $3::bigint as has_changed
    from
      accounts
    where
      id = $1::int
      or pix_keys && $2::text[]
    order by
      id
    for update
  ),
  holders as (
    select
      locked.*
    from
      locked
      join locked lister on lister.id = $1::int
    where
      locked.id = lister.id
      or not (
        locked.has_changed
        and lister.has_changed
      )
  ),
  certain as (
    select
      array(
        select
          key
        from
          unnest($2::text[]) as key
        where
          not exists (
            select
            from
              holders
            where
              has_changed
              and id <> $1::int
              and pix_keys @> array[key]
          )
      ) as keys
  )
update accounts a
set
  pix_keys = case
    when a.id <> $1::int then array(
      select
        key
      from
        unnest(a.pix_keys) as key
      where
        key <> all ($2::text[])
    )
    when holders.has_changed then array(
      select
        key
      from
        unnest(a.pix_keys) as key
      where
        key = any (certain.keys)
    )
    else certain.keys
  end,
  pix_keys_version = (
    select
      coalesce(max(pix_keys_version), 0) + 1
    from
      accounts
  )
from
  holders,
  certain
where
  a.id = holders.id;

-- src/accounts/pix-key-repository.ts: account-keys-restore
-- $1 accountId, $2 key, $3 version
update accounts
set
  pix_keys = pix_keys || array[$2::text],
  pix_keys_version = (
    select
      coalesce(max(pix_keys_version), 0) + 1
    from
      accounts
  )
where
  id = $1::int
  and pix_keys_version = $3::bigint
  and not exists (
    select
    from
      accounts other
    where
      other.pix_keys @> array[$2::text]
  );

-- src/accounts/pix-key-repository.ts: account-keys-version
select
  coalesce(max(pix_keys_version), 0) as version
from
  accounts;

-- src/app-events/outbox-repository.ts: app-event-delivered
-- $1 id, $2 now
update app_events
set
  delivered_at = $2::timestamptz
where
  id = $1::text;

-- src/app-events/outbox-repository.ts: app-event-find
-- $1 id
select
  event.*,
  coalesce(is_correction, false) as "isCorrection",
  case
    when is_correction then t.paid_again_by
  end as "paidAgainBy",
  event.id like '%\_overruled' as "isOverrule",
  case
    when event.type = 'pix.failed' then t.failure_code
  end as "failureCode"
from
  (
    select
      id,
      type,
      user_id as "userId",
      transaction_id as "transactionId",
      operation,
      status,
      at
    from
      app_events
    where
      id = $1::text
      and delivered_at is null
  ) event
  left join lateral (
    select
      paid_again_by,
      failure_code,
      corrected_at is not null
      and event.type = 'pix.completed' as is_correction
    from
      pix_transactions
    where
      id = event."transactionId"
  ) t on true;

-- src/app-events/outbox-repository.ts: ops-app-events-list
-- $1 state, $2 limit
select
  *
from
  (
    select
      event.*,
      coalesce(job.attempts, 0) as attempts,
      job.last_error as "lastError",
      case
        when "deliveredAt" is not null then 'delivered'
        when job.status = 'dead' then 'dead'
        else 'pending'
      end as state
    from
      (
        select
          id,
          type,
          user_id as "userId",
          transaction_id as "transactionId",
          operation,
          status,
          at,
          delivered_at as "deliveredAt"
        from
          app_events
      ) event
      left join lateral (
        select
          status,
          attempts,
          last_error
        from
          jobs
        where
          unique_key = 'app-event:' || event.id
        order by
          jobs.id desc
        limit
          1
      ) job on true
  ) event
where
  $1::text is null
  or state = $1::text
order by
  at desc,
  id desc
limit
  $2::int;

-- src/app-events/outbox-repository.ts: ops-app-events-resend
-- $1 ids, $2 allDead, $3 now
with
  chosen as (
    update app_events
    set
      delivered_at = null
    where
      id = any ($1::text[])
      or (
        $2::boolean
        and id in (
          select
            substr(unique_key, 11)
          from
            jobs
          where
            kind = 'deliver-app-event'
            and status = 'dead'
        )
      )
    returning
      id
  ),
  buried as (
    delete from jobs
    where
      status = 'dead'
      and unique_key in (
        select
          'app-event:' || id
        from
          chosen
      )
  ),
  queued as (
    insert into
      jobs (kind, payload, unique_key, status, run_at, created_at)
    select
      'deliver-app-event',
      jsonb_build_object('id', id),
      'app-event:' || id,
      'queued',
      $3::timestamptz,
      $3::timestamptz
    from
      chosen
    on conflict (unique_key)
    where
      unique_key is not null
      and status in ('queued', 'running') do update
    set
      payload = excluded.payload,
      run_at = case
        when jobs.status = 'queued' then least(jobs.run_at, excluded.run_at)
        else jobs.run_at
      end,
      wanted = jobs.status = 'running'
    returning
      pg_notify ('ponte_jobs', '')::text as notified
  )
select
  id
from
  chosen
order by
  id;

-- src/auth/look-up-bucket-repository.ts: pix-look-up-give-back
-- $1 userId
update throttle_counters
set
  expires_at = expires_at - interval '30 seconds'
where
  key = 'pix-look-ups:' || $1::int::text;

-- src/auth/look-up-bucket-repository.ts: pix-look-up-take
-- $1 userId, $2 now, $3 latest
with
  taken as (
    insert into
      throttle_counters as c (key, window_started_at, attempts, expires_at)
    values
      ('pix-look-ups:' || $1::int::text, $2::timestamptz, 1, $2::timestamptz + interval '30 seconds')
    on conflict (key) do update
    set
      expires_at = case
        when c.expires_at > $2::timestamptz then c.expires_at
        else $2::timestamptz
      end + interval '30 seconds'
    where
      c.expires_at <= $3::timestamptz
    returning
      key
  )
select
  exists (
    select
    from
      taken
  ) as "isTaken",
  (
    select
      expires_at
    from
      throttle_counters
    where
      key = 'pix-look-ups:' || $1::int::text
  ) as "endsAt";

-- src/auth/look-up-bucket-repository.ts: pix-look-up-take-for-send
-- $1 sessionId, $2 userId, $3 now, $4 latest, $5 idempotencyKey, $6 pixKey
with
  send as (
    select
      exists (
        select
        from
          pix_transactions
        where
          user_id = $2::int
          and operation = 'SEND'
          and idempotency_key = $5::text
      ) as has_order
    where
      exists (
        select
        from
          banking_sessions s
        where
          s.id = $1::uuid
          and s.user_id = $2::int
          and s.status = 'ACTIVE'
          and (
            s.token_expires_at is null
            or s.token_expires_at > $3::timestamptz
          )
      )
  ),
  payee as (
    select
      exists (
        select
        from
          pix_transactions
        where
          user_id = $2::int
          and operation = 'SEND'
          and pix_key = $6::text
          and outcome = 'accepted'
          and status <> 'FAILED'
      ) as is_known
    from
      send
    where
      not has_order
  ),
  taken as (
    insert into
      throttle_counters as c (key, window_started_at, attempts, expires_at)
    select
      'pix-look-ups:' || $2::int::text,
      $3::timestamptz,
      1,
      $3::timestamptz + interval '30 seconds'
    from
      payee
    where
      not is_known
    on conflict (key) do update
    set
      expires_at = case
        when c.expires_at > $3::timestamptz then c.expires_at
        else $3::timestamptz
      end + interval '30 seconds'
    where
      c.expires_at <= $4::timestamptz
    returning
      key
  )
select
  exists (
    select
    from
      taken
  ) as "isTaken",
  payee.is_known as "isKnown",
  (
    select
      expires_at
    from
      throttle_counters
    where
      key = 'pix-look-ups:' || $2::int::text
  ) as "endsAt"
from
  payee;

-- src/auth/look-up-bucket-repository.ts: pix-look-up-take-more
-- $1 userId, $2 now, $3 more
insert into
  throttle_counters as c (key, window_started_at, attempts, expires_at)
values
  (
    'pix-look-ups:' || $1::int::text,
    $2::timestamptz,
    1,
    $2::timestamptz + interval '30 seconds' * $3::int
  )
on conflict (key) do update
set
  expires_at = case
    when c.expires_at > $2::timestamptz then c.expires_at
    else $2::timestamptz
  end + interval '30 seconds' * $3::int;

-- src/auth/security-event-repository.ts: login-refusal-count
-- $1 at, $2 userId, $3 identity, $4 network, $5 hour
insert into
  security_events (at, kind, user_id, identity, address, hour)
values
  ($1::timestamptz, 'login_refused', $2::int, $3::text, $4::text, $5::timestamptz)
on conflict (identity, address, hour)
where
  hour is not null do update
set
  times = security_events.times + 1;

-- src/auth/security-event-repository.ts: security-event-insert
-- $1 at, $2 kind, $3 userId, $4 identity, $5 address
insert into
  security_events (at, kind, user_id, identity, address)
values
  ($1::timestamptz, $2::text, $3::int, $4::text, $5::text);

-- src/auth/session-repository.ts: end-session
-- $1 sessionId, $2 userId, $3 now
update banking_sessions
set
  status = case
    when status = 'ACTIVE' then 'ENDED'
    else status
  end,
  sealed_token = null,
  ended_at = coalesce(ended_at, $3::timestamptz),
  voided_at = $3::timestamptz
where
  id = $1::uuid
  and user_id = $2::int
  and voided_at is null;

-- src/auth/session-repository.ts: expire-session
-- $1 sessionId, $2 sealedToken, $3 now
update banking_sessions
set
  status = 'EXPIRED',
  sealed_token = null,
  ended_at = $3::timestamptz
where
  id = $1::uuid
  and status = 'ACTIVE'
  and sealed_token = $2::bytea;

-- src/auth/session-repository.ts: find-principal (batched)
-- $1 sessionId, $2 userId, $3 now
select
  requested.ordinal,
  s.sealed_token as "sealedToken",
  u.name,
  u.email,
  u.person_type as "personType",
  u.phone,
  u.document as "userDocument",
  a.id as "accountId",
  a.provider,
  a.agency,
  a.account_number as "accountNumber",
  a.provider_company_id as "providerCompanyId",
  a.balance,
  coalesce(a.document, u.document) as "accountDocument",
  a.status as "accountStatus"
from
  unnest($1::uuid[], $2::int[], $3::timestamptz[]) with ordinality as requested (session_id, user_id, now, ordinal)
  join lateral (
    select
      *
    from
      banking_sessions
    where
      id = requested.session_id
    limit
      1
  ) s on s.user_id = requested.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > requested.now
  )
  join users u on u.id = s.user_id
  and u.status = 'ACTIVE'
  left join accounts a on a.user_id = u.id;

-- src/auth/session-repository.ts: renew-session
-- $1 newId, $2 userId, $3 sealedToken, $4 tokenExpiresAt, $5 now, $6 passwordHash,
-- $7 addressDigest, $8 identity, $9 address
with
  owner as (
    select
      id
    from
      users
    where
      id = $2::int
      and status = 'ACTIVE'
      and password_hash = $6::text
    for share
  ),
  known as (
    insert into
      login_addresses (user_id, address_digest, last_login_at)
    select
      owner.id,
      $7::bytea,
      $5::timestamptz
    from
      owner
    on conflict (user_id, address_digest) do update
    set
      last_login_at = excluded.last_login_at
  ),
  waiting as (
    insert into
      jobs (kind, payload, unique_key, status, run_at, created_at)
    select
      'reconcile-user',
      jsonb_build_object('userId', owner.id),
      'reconcile:' || owner.id,
      'queued',
      $5::timestamptz,
      $5::timestamptz
    from
      owner
    where
      exists (
        select
        from
          reconciliations
        where
          user_id = owner.id
          and state = 'UNREAD'
      )
    on conflict (unique_key)
    where
      unique_key is not null
      and status in ('queued', 'running') do update
    set
      payload = excluded.payload,
      run_at = case
        when jobs.status = 'queued' then least(jobs.run_at, excluded.run_at)
        else jobs.run_at
      end,
      wanted = jobs.status = 'running'
    returning
      pg_notify ('ponte_jobs', '')::text as notified
  ),
  event as (
    insert into
      security_events (at, kind, user_id, identity, address)
    select
      $5::timestamptz,
      'login',
      owner.id,
      $8::text,
      $9::text
    from
      owner
  )
insert into
  banking_sessions (id, user_id, status, sealed_token, token_expires_at, created_at, renewed_at)
select
  $1::uuid,
  owner.id,
  'ACTIVE',
  $3::bytea,
  $4::timestamptz,
  $5::timestamptz,
  $5::timestamptz
from
  owner
on conflict (user_id)
where
  status = 'ACTIVE' do update
set
  sealed_token = excluded.sealed_token,
  token_expires_at = excluded.token_expires_at,
  renewed_at = excluded.renewed_at
returning
  id;

-- src/auth/session-repository.ts: sealed-token
-- $1 sessionId
select
  sealed_token as "sealedToken"
from
  banking_sessions
where
  id = $1::uuid
  and status = 'ACTIVE';

-- src/auth/session-repository.ts: session-end-active
-- $1 id, $2 userId, $3 now
update banking_sessions s
set
  status = 'ENDED',
  sealed_token = null,
  ended_at = $3::timestamptz
from
  users u
where
  u.id = s.user_id
  and s.status = 'ACTIVE'
  and (
    s.id = $1::uuid
    or s.user_id = $2::int
  )
returning
  s.id,
  s.user_id as "userId",
  u.email;

-- src/auth/session-repository.ts: session-identifies-device
-- $1 sessionId, $2 userId
select
  id
from
  banking_sessions
where
  id = $1::uuid
  and user_id = $2::int
  and status <> 'ENDED'
  and voided_at is null;

-- src/auth/session-repository.ts: void-sessions
-- $1 userId, $2 now
update banking_sessions
set
  voided_at = $2::timestamptz
where
  user_id = $1::int
  and voided_at is null;

-- src/auth/throttle-repository.ts: throttle-count
-- $1 attempts, $2 now
insert into
  throttle_counters as c (key, window_started_at, attempts, expires_at)
select
  counted.key,
  $2::timestamptz,
  weight,
  counted.expires_at
from
  jsonb_to_recordset($1::jsonb) as counted (key text, weight int, expires_at timestamptz)
order by
  counted.key
on conflict (key) do update
set
  attempts = case
    when c.expires_at > $2::timestamptz then c.attempts
    else 0
  end + excluded.attempts,
  window_started_at = case
    when c.expires_at > $2::timestamptz then c.window_started_at
    else $2::timestamptz
  end,
  expires_at = case
    when c.expires_at > $2::timestamptz then c.expires_at
    else excluded.expires_at
  end
returning
  key,
  attempts,
  expires_at as "expiresAt";

-- src/auth/throttle-repository.ts: throttle-read
-- $1 keys, $2 now
select
  key,
  attempts,
  expires_at as "expiresAt"
from
  throttle_counters
where
  key = any (
    array(
      select
        jsonb_array_elements_text($1::jsonb)
    )
  )
  and expires_at > $2::timestamptz;

-- src/auth/user-repository.ts: user-by-email
-- $1 email, $2 addressDigests, $3 since
select
  id,
  email,
  password_hash as "passwordHash",
  document,
  exists (
    select
    from
      login_addresses
    where
      user_id = users.id
      and address_digest = any ($2::bytea[])
      and last_login_at > $3::timestamptz
  ) as "knowsAddress"
from
  users
where
  lower(email) = lower($1::text)
  and status = 'ACTIVE';

-- src/auth/user-repository.ts: user-by-reference
-- $1 id, $2 email
select
  id,
  email,
  status
from
  users
where
  id = $1::int
  or lower(email) = lower($2::text);

-- src/auth/user-repository.ts: user-create
-- $1 name, $2 email, $3 document, $4 personType, $5 phone, $6 passwordHash, $7 now
insert into
  users (name, email, document, person_type, phone, password_hash, created_at, updated_at)
values
  ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::timestamptz, $7::timestamptz)
on conflict do nothing
returning
  id;

-- src/auth/user-repository.ts: user-identity
-- $1 email
select
  name,
  document
from
  users
where
  lower(email) = lower($1::text)
  and status = 'ACTIVE';

-- src/auth/user-repository.ts: user-lock-hash
-- $1 id, $2 passwordHash
select
  id
from
  users
where
  id = $1::int
  and password_hash = $2::text
  and status = 'ACTIVE'
for share;

-- src/auth/user-repository.ts: user-renew-hash
-- $1 userId, $2 from, $3 to, $4 now
update users
set
  password_hash = $3::text,
  updated_at = $4::timestamptz
where
  id = $1::int
  and password_hash = $2::text;

-- src/db/migrate.ts: current-database
select
  current_database() as name;

-- src/db/migrate.ts: migrations-applied
select
  name,
  executed_at
from
  schema_migrations
order by
  id;

-- src/disputes/dispute-repository.ts: dispute-call-ended
-- $1 id, $2 status, $3 until, $4 mayBeDone, $5 isRefused, $6 now
update pix_disputes
set
  claimed_until = null,
  may_be_done = $4::boolean,
  updated_at = $6::timestamptz,
  status = case
    when $5::boolean
    and status = 'REQUESTED' then 'REFUSED'
    else status
  end,
  ended_at = case
    when $5::boolean
    and status = 'REQUESTED' then $6::timestamptz
    else ended_at
  end,
  withdrawal_requested_at = case
    when $5::boolean then null
    else withdrawal_requested_at
  end
where
  transaction_id = $1::uuid
  and status = $2::text
  and claimed_until = $3::timestamptz;

-- src/disputes/dispute-repository.ts: dispute-check
-- $1 id, $2 now
update pix_disputes
set
  updated_at = $2::timestamptz
where
  transaction_id = $1::uuid
  and status in ('REQUESTED', 'OPEN');

-- src/disputes/dispute-repository.ts: dispute-claim
-- $1 id, $2 status, $3 now, $4 until
with
  before as (
    select
      transaction_id,
      may_be_done
    from
      pix_disputes d
    where
      transaction_id = $1::uuid
      and status = $2::text
      and (
        d.status = 'REQUESTED'
        or d.withdrawal_requested_at is not null
      )
      and (
        claimed_until is null
        or claimed_until <= $3::timestamptz
      )
    for update
  )
update pix_disputes d
set
  claimed_until = $4::timestamptz,
  may_be_done = true,
  updated_at = $3::timestamptz
from
  before
where
  d.transaction_id = before.transaction_id
returning
  before.may_be_done as "mayHaveBeenDone",
  d.situation,
  d.details;

-- src/disputes/dispute-repository.ts: dispute-event
-- $1 id, $2 endToEnd, $3 status, $4 now
with
  payment as (
    select
      id,
      user_id,
      status
    from
      pix_transactions
    where
      (
        id = $1::uuid
        or $1::uuid is null
        and end_to_end = $2::text
      )
      and (
        $2::text is null
        or end_to_end = $2::text
      )
      and operation = 'SEND'
  ),
  stored as (
    insert into
      pix_disputes as d (transaction_id, user_id, status, requested_at, opened_at, ended_at, updated_at)
    select
      id,
      user_id,
      $3::text,
      $4::timestamptz,
      $4::timestamptz,
      case
        when $3::text in ('ACCEPTED', 'REJECTED', 'WITHDRAWN') then $4::timestamptz
      end,
      $4::timestamptz
    from
      payment
    where
      status = 'COMPLETED'
    on conflict (transaction_id) do update
    set
      status = $3::text,
      may_be_done = false,
      claimed_until = null,
      withdrawal_requested_at = null,
      opened_at = coalesce(d.opened_at, $4::timestamptz),
      ended_at = case
        when $3::text in ('ACCEPTED', 'REJECTED', 'WITHDRAWN') then $4::timestamptz
      end,
      updated_at = $4::timestamptz
    where
      d.status <> $3::text
      and d.status in ('REQUESTED', 'REFUSED', 'OPEN')
    returning
      d.transaction_id
  )
select
  payment.id,
  payment.status as payment,
  stored.transaction_id is not null as "isMoved",
  (
    select
      d.status
    from
      pix_disputes d
    where
      d.transaction_id = payment.id
  ) as before
from
  payment
  left join stored on true;

-- src/disputes/dispute-repository.ts: dispute-find (indexed)
-- $1 userId, $2 id
select
  d.transaction_id as "transactionId",
  d.status,
  d.situation,
  d.details,
  d.withdrawal_requested_at as "withdrawalRequestedAt",
  d.requested_at as "requestedAt",
  d.opened_at as "openedAt",
  d.ended_at as "endedAt",
  t.end_to_end as "endToEnd",
  t.refunded_amount as "refundedAmount"
from
  pix_disputes d
  join pix_transactions t on t.id = d.transaction_id
where
  d.transaction_id = $2::uuid
  and d.user_id = $1::int;

-- src/disputes/dispute-repository.ts: dispute-payment (indexed)
-- $1 userId, $2 id
select
  operation,
  status,
  settled_at as "settledAt"
from
  pix_transactions
where
  id = $2::uuid
  and user_id = $1::int;

-- src/disputes/dispute-repository.ts: dispute-pending
-- $1 now, $2 limit
select
  d.transaction_id as "transactionId",
  d.status,
  d.situation,
  d.details,
  d.withdrawal_requested_at as "withdrawalRequestedAt",
  d.requested_at as "requestedAt",
  d.opened_at as "openedAt",
  d.ended_at as "endedAt",
  t.end_to_end as "endToEnd",
  t.refunded_amount as "refundedAmount",
  s.id as "sessionId",
  s.user_id as "userId",
  s.sealed_token as "sealedToken"
from
  pix_disputes d
  join pix_transactions t on t.id = d.transaction_id
  join banking_sessions s on s.user_id = d.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > $1::timestamptz
  )
where
  d.status in ('REQUESTED', 'OPEN')
  and (
    d.claimed_until is null
    or d.claimed_until <= $1::timestamptz
  )
  and d.updated_at <= $1::timestamptz - case
    when (
      d.status = 'REQUESTED'
      or d.withdrawal_requested_at is not null
    ) then least((d.updated_at - d.requested_at) / 10, interval '1 hour')
    else greatest(least((d.updated_at - d.requested_at) / 10, interval '1 day'), interval '1 hour')
  end
order by
  (
    d.status = 'REQUESTED'
    or d.withdrawal_requested_at is not null
  ) desc,
  d.updated_at
limit
  $2::int;

-- src/disputes/dispute-repository.ts: dispute-reported
-- $1 id, $2 status, $3 now
update pix_disputes d
set
  status = $2::text,
  may_be_done = false,
  claimed_until = null,
  withdrawal_requested_at = null,
  opened_at = coalesce(d.opened_at, $3::timestamptz),
  ended_at = case
    when $2::text in ('ACCEPTED', 'REJECTED', 'WITHDRAWN') then $3::timestamptz
  end,
  updated_at = $3::timestamptz
where
  transaction_id = $1::uuid
  and status <> $2::text
  and status in ('REQUESTED', 'REFUSED', 'OPEN')
returning
  transaction_id as id;

-- src/disputes/dispute-repository.ts: dispute-request
-- $1 userId, $2 id, $3 paidSince, $4 situation, $5 details, $6 now
with
  owner as (
    select
      id
    from
      users
    where
      id = $1::int
      and status = 'ACTIVE'
    for key share
  )
insert into
  pix_disputes (transaction_id, user_id, status, situation, details, requested_at, updated_at)
select
  t.id,
  t.user_id,
  'REQUESTED',
  $4::text,
  $5::bytea,
  $6::timestamptz,
  $6::timestamptz
from
  pix_transactions t
  join owner on owner.id = t.user_id
where
  t.id = $2::uuid
  and t.operation = 'SEND'
  and t.status = 'COMPLETED'
  and t.settled_at >= $3::timestamptz
on conflict (transaction_id) do update
set
  status = 'REQUESTED',
  situation = excluded.situation,
  details = excluded.details,
  requested_at = excluded.requested_at,
  updated_at = excluded.updated_at,
  ended_at = null
where
  pix_disputes.status = 'REFUSED'
returning
  transaction_id as id;

-- src/disputes/dispute-repository.ts: dispute-request-withdrawal
-- $1 userId, $2 id, $3 now
update pix_disputes
set
  withdrawal_requested_at = coalesce(withdrawal_requested_at, $3::timestamptz),
  updated_at = $3::timestamptz
where
  transaction_id = $2::uuid
  and user_id = $1::int
  and status = 'OPEN'
returning
  transaction_id as id;

-- src/jobs/job-repository.ts: after-crash-jobs
update jobs
set
  status = 'queued',
  leased_by = null,
  leased_until = null
where
  status = 'running';

-- src/jobs/job-repository.ts: jobs-bring-forward
-- $1 uniqueKeys, $2 latest
update jobs
set
  run_at = latest.run_at
from
  unnest($1::text[], $2::timestamptz[]) as latest (unique_key, run_at)
where
  jobs.unique_key = latest.unique_key
  and jobs.status = 'queued'
  and jobs.run_at > latest.run_at;

-- src/jobs/job-repository.ts: jobs-claim (indexed)
-- $1 worker, $2 leasedUntil, $3 now, $4 kinds, $5 rooms
with
  claimed as (
    update jobs
    set
      status = 'running',
      leased_by = $1::text,
      leased_until = $2::timestamptz,
      wanted = false,
      attempts = attempts + 1
    where
      id = any (
        array(
          select
            due.id
          from
            unnest($4::text[], $5::int[]) as lane (kind, room),
            lateral (
              select
                id
              from
                jobs
              where
                status = 'queued'
                and run_at <= $3::timestamptz
                and kind = lane.kind
              order by
                run_at,
                id
              limit
                room
              for update
                skip locked
            ) as due
        )
      )
    returning
      id,
      kind,
      payload,
      attempts
  )
select
  claimed.*,
  next_run_at as "nextRunAt"
from
  (
    select
      min(run_at) as next_run_at
    from
      jobs
    where
      status = 'queued'
      and run_at > $3::timestamptz
      and kind = any ($4::text[])
  ) as next
  left join claimed on true;

-- src/jobs/job-repository.ts: jobs-enqueue
-- $1 kind, $2 payload, $3 uniqueKey, $4 runAt, $5 now
insert into
  jobs (kind, payload, unique_key, status, run_at, created_at)
values
  ($1::text, $2::jsonb, $3::text, 'queued', $4::timestamptz, $5::timestamptz)
on conflict (unique_key)
where
  unique_key is not null
  and status in ('queued', 'running') do update
set
  payload = excluded.payload,
  run_at = case
    when jobs.status = 'queued' then least(jobs.run_at, excluded.run_at)
    else jobs.run_at
  end,
  wanted = jobs.status = 'running'
returning
  pg_notify ('ponte_jobs', '')::text as notified;

-- src/jobs/job-repository.ts: jobs-ensure-periodic
-- $1 kind, $2 uniqueKey, $3 runAt, $4 now
insert into
  jobs (kind, payload, unique_key, status, run_at, created_at)
values
  ($1::text, '{}', $2::text, 'queued', $3::timestamptz, $4::timestamptz)
on conflict (unique_key)
where
  unique_key is not null
  and status in ('queued', 'running') do update
set
  run_at = least(jobs.run_at, excluded.run_at);

-- src/jobs/job-repository.ts: jobs-finish (batched)
-- $1 id, $2 worker, $3 status, $4 error, $5 now
update jobs
set
  status = case
    when jobs.wanted then 'queued'
    else requested.status
  end,
  run_at = case
    when jobs.wanted then requested.now
    else run_at
  end,
  attempts = case
    when jobs.wanted then 0
    else attempts
  end,
  finished_at = case
    when jobs.wanted then null
    else requested.now
  end,
  last_error = requested.error,
  leased_by = null,
  leased_until = null
from
  unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) with ordinality as requested (id, worker, status, error, now, ordinal)
where
  jobs.id = any (array[requested.id])
  and leased_by = worker
returning
  ordinal,
  jobs.status;

-- src/jobs/job-repository.ts: jobs-release-lapsed (indexed)
-- $1 now, $2 maxAttempts, $3 workers, $4 ids, $5 periodicKinds
update jobs
set
  status = case
    when is_over then 'dead'
    else 'queued'
  end,
  finished_at = case
    when is_over then $1::timestamptz
  end,
  last_error = 'lease_lapsed',
  attempts = case
    when jobs.wanted then 0
    else attempts
  end,
  leased_by = null,
  leased_until = null
from
  (
    select
      id as lapsed_id,
      attempts >= $2::int
      and last_error = 'lease_lapsed'
      and kind <> all ($5::text[])
      and not jobs.wanted as is_over
    from
      jobs
    where
      status = 'running'
      and leased_until < $1::timestamptz
      and not (
        leased_by = any ($3::text[])
        and id = any ($4::bigint[])
      )
    order by
      id
    for update
      skip locked
  ) lapsed
where
  id = lapsed_id
returning
  id;

-- src/jobs/job-repository.ts: jobs-renew (indexed)
-- $1 workers, $2 leasedUntil, $3 ids
update jobs
set
  leased_until = $2::timestamptz
where
  id = any (
    array(
      select
        id
      from
        jobs
      where
        leased_by = any ($1::text[])
        and status = 'running'
        and id = any ($3::bigint[])
      for update
        skip locked
    )
  );

-- src/jobs/job-repository.ts: jobs-requeue (batched)
-- $1 id, $2 worker, $3 runAt, $4 attempts, $5 error, $6 now
update jobs
set
  status = 'queued',
  attempts = requested.attempts,
  last_error = requested.error,
  run_at = case
    when jobs.wanted then least(requested.run_at, requested.now)
    else requested.run_at
  end,
  leased_by = null,
  leased_until = null
from
  unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::int[], $5::text[], $6::timestamptz[]) with ordinality as requested (id, worker, run_at, attempts, error, now, ordinal)
where
  jobs.id = any (array[requested.id])
  and leased_by = worker
returning
  ordinal;

-- src/ledger/analysis-repository.ts: pix-note-analysis
-- $1 id, $2 now
update pix_transactions
set
  held_at = $2::timestamptz
where
  id = $1::uuid
  and operation = 'SEND'
  and settled_at is null
  and held_at is null
  and phase in ('PAYING', 'ACCEPTED', 'UNKNOWN')
returning
  id;

-- src/ledger/closed-key-repository.ts: pix-close-key
-- $1 sessionId, $2 userId, $3 now, $4 id, $5 operation, $6 idempotencyKey, $7 fingerprint,
-- $8 amount, $9 pixKey, $10 description, $11 endToEnd, $12 originalId, $13 failureCode,
-- $14 mayClose
with
  requested as (
    select
      $1::uuid as session_id,
      $2::int as user_id,
      $3::timestamptz as now,
      $4::uuid as id,
      $5::text as operation,
      $6::text as idempotency_key
  ),
call as (
  select
    requested.*,
    (
      (
        exists (
          select
          from
            pix_pauses
          where
            ended_at is null
        )
        or (
          select
            coalesce(
              (
                select
                  max(id)
                from
                  pix_pauses
                where
                  lost_since is not null
              ),
              0
            ) > coalesce(a.loss_read, 0)
            or a.blocked_by is not null
            and exists (
              select
              from
                reconciliation_differences line
              where
                line.user_id = a.user_id
                and line.blocks is not null
                and line.closed_at is null
                and not exists (
                  select
                  from
                    pix_transactions t
                  where
                    t.end_to_end = line.subject
                    and t.operation in ('SEND', 'REFUND_OUT')
                )
            )
          from
            accounts a
          where
            a.user_id = requested.user_id
        ) is true
      )
      or requested.operation = 'REFUND_OUT'
      and exists (
        select
        from
          pix_transactions refund
        where
          refund.user_id = requested.user_id
          and refund.operation = 'REFUND_OUT'
          and refund.idempotency_key is null
          and (
            refund.created_at + interval '10 minutes' >= (
              select
                min(lost_since)
              from
                pix_pauses
            )
          ) is true
      )
    ) as may_be_lost
  from
    requested
    join lateral (
      select
        *
      from
        banking_sessions
      where
        id = requested.session_id
      limit
        1
    ) s on s.user_id = requested.user_id
    and s.status = 'ACTIVE'
    and (
      s.token_expires_at is null
      or s.token_expires_at > requested.now
    )
    join users u on u.id = s.user_id
    and u.status = 'ACTIVE'
),
closed as (
  insert into
    pix_transactions (
      id,
      user_id,
      operation,
      idempotency_key,
      fingerprint,
      status,
      phase,
      outcome,
      failure_code,
      amount,
      pix_key,
      description,
      end_to_end,
      original_id,
      created_at,
      updated_at,
      settled_at
    )
  select
    id,
    user_id,
    operation,
    idempotency_key,
    $7::bytea,
    'FAILED',
    'SETTLED',
    'not_sent',
    $13::text,
    $8::numeric,
    $9::text,
    $10::text,
    $11::text,
    $12::uuid,
    now,
    now,
    now
  from
  call
  where
    $14::boolean
    and not may_be_lost
  on conflict (user_id, operation, idempotency_key) do nothing
  returning
    id,
    created_at
),
noted as (
  insert into
    pix_timeline (transaction_id, phase, at, note)
  select
    id,
    'SETTLED',
    created_at,
    'closed'
  from
    closed
)
select
  call.may_be_lost as "mayBeLost",
  closed.id is not null
  or t.id = call.id as reserved,
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.qr_code as "qrCode",
  t.copy_paste as "copyPaste",
  t.fingerprint,
  t.claimed_until as "claimedUntil",
  t.held_at as "heldAt",
  t.created_at as "createdAt",
  t.resumable_until as "resumableUntil"
from
call
left join closed on closed.id = call.id
left join lateral (
  select
    id,
    user_id,
    operation,
    idempotency_key,
    status,
    phase,
    outcome,
    failure_code,
    amount,
    end_to_end,
    transaction_identification,
    qr_code,
    copy_paste,
    fingerprint,
    claimed_until,
    held_at,
    created_at,
    resumable_until
  from
    pix_transactions
  where
    user_id = call.user_id
    and operation = call.operation
    and idempotency_key = call.idempotency_key
  limit
    1
) t on true;

-- src/ledger/correction-repository.ts: pix-code-judge-again
-- $1 id
insert into
  pix_limits as own (user_id, version)
select
  user_id,
  1
from
  pix_transactions
where
  id = $1::uuid
  and operation = 'SEND'
  and code_digest is not null
on conflict (user_id) do update
set
  version = own.version + 1
returning
  user_id;

-- src/ledger/correction-repository.ts: pix-correct
-- $1 id, $2 endToEnd, $3 providerTxid, $4 now, $5 eventId, $6 note
with
  requested as (
    select
      $1::uuid as id,
      $2::text as end_to_end,
      $3::text as provider_txid,
      $4::timestamptz as now,
      $5::uuid as event_id,
      $6::text as note
  ),
  again as (
    select
      later.id
    from
      requested
      join pix_transactions t on t.id = requested.id
      and t.operation = 'SEND'
      join pix_transactions later on later.user_id = t.user_id
      and later.created_at > t.created_at
      and later.operation = 'SEND'
      and later.status <> 'FAILED'
      and later.pix_key = t.pix_key
      and (
        later.amount = t.amount
        or later.code_digest = t.code_digest
        or later.code_payee_digest = t.code_payee_digest
        or later.code_key_digest = t.code_key_digest
      )
    order by
      later.created_at,
      later.id
    limit
      1
  ),
  corrected as (
    update pix_transactions t
    set
      status = 'COMPLETED',
      phase = 'SETTLED',
      outcome = 'accepted',
      failure_code = null,
      end_to_end = coalesce(t.end_to_end, requested.end_to_end),
      provider_txid = coalesce(t.provider_txid, requested.provider_txid),
      corrected_at = requested.now,
      settled_at = requested.now,
      updated_at = requested.now,
      paid_again_by = (
        select
          id
        from
          again
      )
    from
      requested
    where
      t.id = requested.id
      and t.status = 'FAILED'
      and t.operation in ('CHARGE', 'SEND', 'REFUND_OUT')
      and coalesce(t.end_to_end = requested.end_to_end, true)
    returning
      t.id,
      t.paid_again_by
  ),
  noted as (
    insert into
      pix_timeline (transaction_id, phase, at, event_id, note, provider_txid)
    select
      corrected.id,
      'SETTLED',
      requested.now,
      requested.event_id,
      requested.note,
      requested.provider_txid
    from
      corrected,
      requested
  )
select
  id,
  paid_again_by as "paidAgainBy",
  (
    select
      pg_notify (
        'ponte_pix',
        case
          when count(*) <= 200 then string_agg(id::text, ' ')
          else ''
        end
      )::text
    from
      corrected
    having
      count(*) > 0
  ) as notified
from
  corrected;

-- src/ledger/correction-repository.ts: pix-correction-awaits
-- $1 id
select
  given_back.id
from
  pix_transactions given_back
  join pix_transactions original on original.id = given_back.original_id
where
  given_back.id = $1::uuid
  and given_back.operation = 'REFUND_OUT'
  and original.refunding_amount is not null
  and coalesce(original.refunded_amount, 0) + given_back.amount <= original.amount;

-- src/ledger/correction-repository.ts: pix-failed-sends
-- $1 userId, $2 from, $3 until, $4 limit
select
  id,
  operation,
  amount,
  end_to_end as "endToEnd"
from
  pix_transactions
where
  user_id = $1::int
  and created_at >= $2::timestamptz
  and created_at < $3::timestamptz
  and operation in ('SEND', 'REFUND_OUT')
  and status = 'FAILED'
  and end_to_end is not null
order by
  created_at desc,
  id desc
limit
  $4::int;

-- src/ledger/erasure-repository.ts: ops-subject-erase-paidByOthers
-- $1 ids
update pix_transactions
set
  pix_key = 'erased'
where
  id = any ($1::uuid[])
  and status <> 'PROCESSING';

-- src/ledger/erasure-repository.ts: ops-subject-erase-transactions
-- $1 userId, $2 values
update pix_transactions
set
  description = null,
  pix_key = case
    when operation <> 'SEND'
    or pix_key = any ($2::text[]) then case
      when pix_key is not null then 'erased'
    end
    else pix_key
  end,
  payee = case
    when operation <> 'SEND'
    or pix_key = any ($2::text[]) then null
    else payee
  end,
  qr_code = case
    when qr_code is not null then 'erased'
  end,
  copy_paste = case
    when copy_paste is not null then 'erased'
  end
where
  user_id = $1::int;

-- src/ledger/erasure-repository.ts: pix-forget-payee
-- $1 id
update pix_transactions
set
  payee = null
where
  id = $1::uuid
  and status = 'FAILED'
  and outcome = 'not_sent';

-- src/ledger/history-repository.ts: pix-page
-- $1 sessionId, $2 userId, $3 now, $4 from, $5 beforeAt, $6 beforeId, $7 operation, $8 status,
-- $9 limit
select
  t.id,
  t.operation,
  t.status,
  t.outcome,
  t.amount,
  t.created_at as "createdAt",
  t.qr_code as "qrCode",
  t.copy_paste as "copyPaste",
  t.expires_at as "expiresAt",
  t.original_id as "originalId",
  t.pix_key as "pixKey",
  t.description,
  t.end_to_end as "endToEnd",
  t.corrected_at as "correctedAt",
  t.paid_again_by as "paidAgainBy",
  t.overruled_at as "overruledAt",
  t.held_at as "heldAt",
  t.failure_code as "failureCode",
  t.is_listed as "isListed",
  t.is_stop as "isStop",
  case
    when t.operation = 'REFUND_IN' then (
      select
        original.payee
      from
        pix_transactions original
      where
        original.id = t.original_id
    )
    else t.payee
  end as payee,
  (
    select
      original.end_to_end
    from
      pix_transactions original
    where
      original.id = t.original_id
  ) as "originalEndToEnd"
from
  (
    values
      ($1::uuid, $2::int, $3::timestamptz)
  ) as requested (session_id, user_id, now)
  join lateral (
    select
      *
    from
      banking_sessions
    where
      id = requested.session_id
    limit
      1
  ) s on s.user_id = requested.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > requested.now
  )
  join users u on u.id = s.user_id
  and u.status = 'ACTIVE'
  left join lateral (
    select
      *
    from
      (
        select
          *,
          sum(code_bytes) over newest - code_bytes < 1048576 as fits,
          row_number() over newest = 1000
          or sum(code_bytes) over newest >= 1048576 as is_stop
        from
          (
            select
              *,
              case
                when is_listed then coalesce(octet_length(qr_code), 0) + coalesce(octet_length(copy_paste), 0)
                else 0
              end as code_bytes
            from
              (
                select
                  id,
                  operation,
                  status,
                  outcome,
                  amount,
                  created_at,
                  qr_code,
                  copy_paste,
                  expires_at,
                  original_id,
                  pix_key,
                  description,
                  end_to_end,
                  corrected_at,
                  paid_again_by,
                  overruled_at,
                  held_at,
                  failure_code,
                  payee,
                  (
                    $7::text is null
                    or operation = $7::text
                  )
                  and (
                    $8::text is null
                    or status = $8::text
                  )
                  and amount is not null
                  and not (
                    operation = 'RECEIVED'
                    and (
                      select
                        charge.user_id
                      from
                        pix_transactions charge
                      where
                        charge.end_to_end = t.end_to_end
                        and charge.operation = 'CHARGE'
                    ) is not distinct from t.user_id
                  ) as is_listed
                from
                  pix_transactions t
                where
                  user_id = u.id
                  and created_at >= $4::timestamptz
                  and (created_at, id) < ($5::timestamptz, $6::uuid)
                order by
                  created_at desc,
                  id desc
                limit
                  1000
              ) examined
          ) measured
        window
          newest as (
            order by
              created_at desc,
              id desc rows unbounded preceding
          )
      ) marked
    where
      fits
      and (
        is_listed
        or is_stop
      )
    order by
      created_at desc,
      id desc
    limit
      $9::int
  ) t on true
order by
  t.created_at desc,
  t.id desc;

-- src/ledger/history-repository.ts: pix-receipt (indexed)
-- $1 sessionId, $2 userId, $3 now, $4 id
select
  t.id,
  t.operation,
  t.status,
  t.amount,
  t.pix_key as "pixKey",
  t.description,
  t.end_to_end as "endToEnd",
  t.failure_code as "failureCode",
  t.created_at as "createdAt",
  t.settled_at as "settledAt",
  t.expires_at as "expiresAt",
  t.original_id as "originalId",
  t.corrected_at as "correctedAt",
  t.paid_again_by as "paidAgainBy",
  t.overruled_at as "overruledAt",
  (
    select
      original.end_to_end
    from
      pix_transactions original
    where
      original.id = t.original_id
  ) as "originalEndToEnd",
  case
    when t.operation in ('CHARGE', 'RECEIVED')
    and t.end_to_end is not null then (
      select
        sum(paid.refunded_amount)
      from
        pix_transactions paid
      where
        paid.end_to_end = t.end_to_end
        and paid.user_id = t.user_id
        and paid.operation in ('CHARGE', 'RECEIVED')
    )
    else t.refunded_amount
  end as "refundedAmount",
  case
    when t.operation = 'REFUND_IN' then (
      select
        original.payee
      from
        pix_transactions original
      where
        original.id = t.original_id
    )
    else t.payee
  end as payee,
  u.name,
  coalesce(a.document, u.document) as document,
  a.provider
from
  (
    values
      ($1::uuid, $2::int, $3::timestamptz)
  ) as requested (session_id, user_id, now)
  join lateral (
    select
      *
    from
      banking_sessions
    where
      id = requested.session_id
    limit
      1
  ) s on s.user_id = requested.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > requested.now
  )
  join users u on u.id = s.user_id
  and u.status = 'ACTIVE'
  left join accounts a on a.user_id = u.id
  left join lateral (
    select
      *
    from
      pix_transactions
    where
      id = $4::uuid
    limit
      1
  ) t on t.user_id = u.id
  and t.amount is not null;

-- src/ledger/lost-send-repository.ts: pix-block-by-line
-- $1 userId, $2 day, $3 reason, $4 blocks, $5 subject, $6 endToEnd, $7 amount, $8 now,
-- $9 readingSince
with
  stored as (
    insert into
      reconciliation_differences as known (day, user_id, kind, reason, subject, end_to_end, amount, found_at, seen_at, blocks)
    values
      (
        $2::date,
        $1::int,
        'MISSING_HERE',
        $3::text,
        $5::text,
        $6::text,
        $7::numeric,
        $8::timestamptz,
        $8::timestamptz,
        $4::text
      )
    on conflict (user_id, kind, subject) do update
    set
      seen_at = excluded.seen_at,
      closed_at = null,
      closed_as = null,
      blocks = case
        when known.blocks <> excluded.blocks then 'ANY'
        else excluded.blocks
      end,
      amount = case
        when known.blocks is not null
        and known.closed_at is null then null
        else excluded.amount
      end,
      found_at = case
        when known.closed_at is null then known.found_at
        else excluded.found_at
      end
    where
      case
        when known.closed_as = 'ACCEPTED' then known.amount is distinct from excluded.amount
        when known.blocks is not null
        and known.closed_at is null then known.amount is distinct from excluded.amount
        and known.amount is not null
        or known.blocks not in (excluded.blocks, 'ANY')
        else true
      end
    returning
      id
  ),
  named as (
    update accounts
    set
      blocked_by = line.id
    from
      (
        select
          id
        from
          stored
        union all
        select
          id
        from
          reconciliation_differences
        where
          user_id = $1::int
          and kind = 'MISSING_HERE'
          and subject = $5::text
          and blocks is not null
          and closed_at is null
      ) line
    where
      user_id = $1::int
      and (
        blocked_by is null
        or exists (
          select
          from
            stored
        )
      )
  )
select
  (
    select
      string_agg(t.id::text, ' ')
    from
      pix_transactions t
    where
      t.user_id = $1::int
      and t.settled_at is null
      and exists (
        select
        from
          pix_timeline step
        where
          step.transaction_id = t.id
          and step.phase = 'PAYING'
          and step.at >= $9::timestamptz
      )
  ) as "payingIds"
from
  stored;

-- src/ledger/lost-send-repository.ts: pix-block-lock
-- $1 userIds
select
  a.id
from
  users u
  join accounts a on a.user_id = u.id
where
  u.id = any ($1::int[])
order by
  u.id
for key share of
  u
for no key update of
  a;

-- src/ledger/lost-send-repository.ts: pix-known-returns
-- $1 userId, $2 returnIds
select
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.qr_code as "qrCode",
  t.copy_paste as "copyPaste"
from
  pix_transactions t
where
  t.id = any (
    array(
      select
        known.id
      from
        pix_transactions known
      where
        known.end_to_end = any ($2::text[])
        and known.operation = 'REFUND_OUT'
      union
      select
        open.id
      from
        pix_open
        join pix_transactions open on open.id = any (array[pix_open.transaction_id])
      where
        not pix_open.has_code
        and open.user_id = $1::int
        and open.operation = 'REFUND_OUT'
    )
  );

-- src/ledger/lost-send-repository.ts: pix-known-sends
-- $1 endToEnds
select
  end_to_end as "endToEnd"
from
  pix_transactions
where
  end_to_end = any ($1::text[])
  and operation = 'SEND';

-- src/ledger/lost-send-repository.ts: pix-send-of-key
-- $1 idempotencyKey, $2 userId
select
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.qr_code as "qrCode",
  t.copy_paste as "copyPaste"
from
  pix_transactions t
where
  idempotency_key = $1::text
  and user_id = $2::int
  and operation = 'SEND';

-- src/ledger/lost-send-repository.ts: pix-store-again
-- $1 id, $2 userId, $3 idempotencyKey, $4 fingerprint, $5 amount, $6 endToEnd, $7 codeDigest,
-- $8 now, $9 note
with
  stored as (
    insert into
      pix_transactions (
        id,
        user_id,
        operation,
        idempotency_key,
        fingerprint,
        status,
        phase,
        outcome,
        amount,
        end_to_end,
        code_digest,
        created_at,
        updated_at
      )
    values
      (
        $1::uuid,
        $2::int,
        'SEND',
        $3::text,
        $4::bytea,
        'PROCESSING',
        'UNKNOWN',
        'unknown',
        $5::numeric,
        $6::text,
        $7::bytea,
        $8::timestamptz,
        $8::timestamptz
      )
    on conflict do nothing
    returning
      id,
      created_at
  ),
  noted as (
    insert into
      pix_timeline (transaction_id, phase, at, note)
    select
      stored.id,
      step.phase,
      stored.created_at,
      $9::text
    from
      stored
      join (
        values
          (1, 'RESERVED'),
          (2, 'PAYING'),
          (3, 'UNKNOWN')
      ) as step (item, phase) on true
    order by
      step.item
  )
select
  id
from
  stored;

-- src/ledger/move-repository.ts: pix-move (batched)
-- $1 id, $2 fromPhases, $3 phase, $4 status, $5 endToEnd, $6 outcome, $7 failureCode,
-- $8 providerTxid, $9 qrCode, $10 copyPaste, $11 claimedUntil, $12 now, $13 timeline, $14 lookUps
with
  requested as (
    select
      *
    from
      unnest(
        $1::uuid[],
        $2::text[],
        $3::text[],
        $4::text[],
        $5::text[],
        $6::text[],
        $7::text[],
        $8::text[],
        $9::text[],
        $10::text[],
        $11::timestamptz[],
        $12::timestamptz[],
        $13::text[],
        $14::int[]
      ) with ordinality as requested (
        id,
        from_phases,
        phase,
        status,
        end_to_end,
        outcome,
        failure_code,
        provider_txid,
        qr_code,
        copy_paste,
        claimed_until,
        now,
        timeline,
        look_ups,
        ordinal
      )
  ),
  moved as (
    update pix_transactions t
    set
      phase = move.phase,
      status = move.status,
      end_to_end = coalesce(move.end_to_end, t.end_to_end),
      outcome = coalesce(move.outcome, t.outcome),
      failure_code = coalesce(move.failure_code, t.failure_code),
      provider_txid = coalesce(t.provider_txid, move.provider_txid),
      qr_code = coalesce(move.qr_code, t.qr_code),
      copy_paste = coalesce(move.copy_paste, t.copy_paste),
      claimed_until = move.claimed_until,
      updated_at = move.now,
      settled_at = case
        when move.status <> 'PROCESSING' then move.now
      end
    from
      requested
    move
    where
      t.id = any (array[move.id])
      and t.settled_at is null
      and t.phase = any (move.from_phases::text[])
      and coalesce(t.end_to_end = move.end_to_end, true)
      and (
        move.status <> 'FAILED'
        or t.reached_payee is not true
        and (
          not t.phase in ('RESERVED', 'RESOLVED')
          or move.outcome = 'rejected'
          or not (
            t.operation in ('SEND', 'REFUND_OUT')
            and (
              exists (
                select
                from
                  pix_pauses
                where
                  ended_at is null
              )
              or (
                select
                  coalesce(
                    (
                      select
                        max(id)
                      from
                        pix_pauses
                      where
                        lost_since is not null
                    ),
                    0
                  ) > coalesce(a.loss_read, 0)
                  or a.blocked_by is not null
                  and exists (
                    select
                    from
                      reconciliation_differences line
                    where
                      line.user_id = a.user_id
                      and line.blocks is not null
                      and line.closed_at is null
                      and not exists (
                        select
                        from
                          pix_transactions t
                        where
                          t.end_to_end = line.subject
                          and t.operation in ('SEND', 'REFUND_OUT')
                      )
                  )
                from
                  accounts a
                where
                  a.user_id = t.user_id
              ) is true
            )
          )
        )
      )
    returning
      move.ordinal,
      move.timeline,
      move.provider_txid as reported_txid,
      t.updated_at,
      t.id,
      t.user_id,
      t.operation,
      t.idempotency_key,
      t.status,
      t.phase,
      t.outcome,
      t.failure_code,
      t.amount,
      t.end_to_end,
      t.transaction_identification,
      t.qr_code,
      t.copy_paste
  ),
  noted as (
    insert into
      pix_timeline (
        transaction_id,
        phase,
        at,
        attempt,
        provider_status,
        http_status,
        provider_code,
        event_id,
        note,
        provider_txid
      )
    select
      moved.id,
      entry.phase,
      moved.updated_at,
      entry.attempt,
      entry.provider_status,
      entry.http_status,
      entry.provider_code,
      entry.event_id,
      entry.note,
      case
        when item = 1 then reported_txid
      end
    from
      moved,
      rows
    from
      (
        jsonb_to_recordset(moved.timeline::jsonb) as (
          phase text,
          attempt int,
          provider_status text,
          http_status int,
          provider_code text,
          event_id uuid,
          note text
        )
      ) with ordinality as entry (phase, attempt, provider_status, http_status, provider_code, event_id, note, item)
    order by
      moved.ordinal,
      entry.item
  ),
  given as (
    select
      moved.user_id,
      requested.look_ups
    from
      moved
      join requested on requested.ordinal = moved.ordinal
  ),
  returned as (
    select
      'pix-look-ups:' || user_id as key,
      sum(look_ups)::int as look_ups
    from
      given
    where
      look_ups > 0
    group by
      user_id
  ),
  bucket as (
    select
      c.key,
      returned.look_ups
    from
      throttle_counters c
      join returned on returned.key = c.key
    order by
      c.key
    for update of
      c
  ),
  credited as (
    update throttle_counters c
    set
      expires_at = c.expires_at - interval '30 seconds' * bucket.look_ups
    from
      bucket
    where
      c.key = bucket.key
  )
select
  ordinal,
  id,
  user_id as "userId",
  operation,
  idempotency_key as "idempotencyKey",
  status,
  phase,
  outcome,
  failure_code as "failureCode",
  amount,
  end_to_end as "endToEnd",
  transaction_identification as "transactionIdentification",
  qr_code as "qrCode",
  copy_paste as "copyPaste",
  (
    select
      pg_notify (
        'ponte_pix',
        case
          when count(*) <= 200 then string_agg(id::text, ' ')
          else ''
        end
      )::text
    from
      moved
    where
      status <> 'PROCESSING'
    having
      count(*) > 0
  )
from
  moved;

-- src/ledger/overrule-repository.ts: pix-bank-word
-- $1 id
select
from
  pix_timeline
where
  transaction_id in (
    select
      side.id
    from
      pix_transactions t
      join pix_transactions side on side.end_to_end = t.end_to_end
    where
      t.id = $1::uuid
    union all
    select
      $1::uuid
  )
  and phase = 'SETTLED'
  and (
    event_id is not null
    and coalesce(note, '') <> 'FAILED'
    and coalesce(note, '') not like 'REFUNDED %'
    or event_id is null
    and note = 'COMPLETED'
  )
limit
  1;

-- src/ledger/overrule-repository.ts: pix-closed-line
-- $1 id
select
from
  pix_timeline
where
  transaction_id = $1::uuid
  and phase = 'SEEN'
  and note = 'closed_line'
limit
  1;

-- src/ledger/overrule-repository.ts: pix-overrule
-- $1 id, $2 settledAt, $3 now, $4 note, $5 closesLine
with
  overruled as (
    update pix_transactions t
    set
      status = 'FAILED',
      outcome = 'rejected',
      failure_code = 'OVERRULED',
      corrected_at = null,
      paid_again_by = null,
      overruled_at = $3::timestamptz,
      settled_at = $3::timestamptz,
      updated_at = $3::timestamptz
    where
      t.id = $1::uuid
      and t.status = 'COMPLETED'
      and t.settled_at = $2::timestamptz
      and t.overruled_at is null
      and t.reached_payee is not true
      and coalesce(t.refunded_amount, t.refunding_amount) is null
    returning
      t.id
  ),
  noted as (
    insert into
      pix_timeline (transaction_id, phase, at, note)
    select
      id,
      'SEEN',
      $3::timestamptz,
      'closed_line'
    from
      overruled
    where
      $5::boolean
    union all
    select
      id,
      'SETTLED',
      $3::timestamptz,
      $4::text
    from
      overruled
  )
select
  id,
  (
    select
      pg_notify (
        'ponte_pix',
        case
          when count(*) <= 200 then string_agg(id::text, ' ')
          else ''
        end
      )::text
    from
      overruled
    having
      count(*) > 0
  ) as notified
from
  overruled;

-- src/ledger/overrule-repository.ts: pix-overrule-lock-events
lock table webhook_queue in share mode;

-- src/ledger/pause-repository.ts: pix-await-claims
lock table pix_transactions in share mode;

-- src/ledger/pause-repository.ts: pix-pause-begin
-- $1 now, $2 by, $3 reason, $4 lostSince, $5 missingSince
with
  widened as (
    update pix_pauses
    set
      lost_since = $4::timestamptz
    where
      ended_at is null
      and (
        lost_since > $4::timestamptz
        or (
          lost_since is null
          and $4::timestamptz is not null
        )
      )
    returning
      id
  ),
  begun as (
    insert into
      pix_pauses (began_at, began_by, reason, lost_since)
    select
      $1::timestamptz,
      $2::text,
      $3::text,
      $4::timestamptz
    where
      not exists (
        select
        from
          pix_pauses
        where
          ended_at is null
      )
      and not exists (
        select
        from
          pix_pauses
        where
          lost_since <= $5::timestamptz
          and ended_at >= $5::timestamptz
      )
    on conflict do nothing
    returning
      id
  )
select
  'begun' as result
from
  begun
union all
select
  'widened'
from
  widened;

-- src/ledger/pause-repository.ts: pix-pause-end
-- $1 id, $2 lostSince, $3 now, $4 by
update pix_pauses
set
  ended_at = $3::timestamptz,
  ended_by = $4::text
where
  id = $1::int
  and ended_at is null
  and lost_since is not distinct from $2::timestamptz
returning
  id;

-- src/ledger/pause-repository.ts: pix-pause-find
select
  id,
  began_at as "beganAt",
  began_by as "beganBy",
  reason,
  lost_since as "lostSince"
from
  pix_pauses
where
  ended_at is null;

-- src/ledger/pause-repository.ts: pix-statement-owed
-- $1 userId
select
  max(loss.id) as "pauseId",
  min(lost_since) as since,
  max(ended_at) as until
from
  accounts a
  join pix_pauses loss on loss.id > a.loss_read
where
  a.user_id = $1::int
  and lost_since is not null
  and ended_at is not null;

-- src/ledger/pause-repository.ts: pix-statement-read
-- $1 userId, $2 pauseId
update accounts
set
  loss_read = $2::int
where
  user_id = $1::int
  and loss_read < $2::int;

-- src/ledger/payee-repository.ts: find-payees (batched)
-- $1 document, $2 documentPattern, $3 agency, $4 accountNumber, $5 pixKey, $6 countsLocal
select
  ordinal,
  payee.*
from
  unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[]) with ordinality as requested (document, document_pattern, agency, account_number, pix_key, counts_local, ordinal),
  lateral (
    select
      user_id as "userId",
      has_key as "hasKey",
      (
        requested.document is null
        or named.document = requested.document
      ) is true
      and (named.document like requested.document_pattern) is not false
      and (
        requested.agency is null
        or (
          ltrim(named.agency, '0') = ltrim(requested.agency, '0')
          or ltrim(named.agency, '0') like ltrim(requested.agency, '0') || '-_'
        )
      ) is true
      and (
        requested.account_number is null
        or ltrim(named.account_number, '0') = ltrim(requested.account_number, '0')
      ) is true
      and (
        requested.pix_key is null
        or has_key
      )
      and (
        requested.document is not null
        or requested.agency is not null
        and requested.account_number is not null
        or has_key
      ) as agrees
    from
      (
        select
          a.user_id,
          a.agency,
          a.account_number,
          a.document,
          (
            a.document = requested.pix_key
            or a.pix_keys @> array[requested.pix_key]
          ) is true as has_key
        from
          accounts a
        where
          (
            a.document in (requested.document, requested.pix_key)
            or a.account_number = requested.account_number
            or a.pix_keys @> array[requested.pix_key]
          )
          and (
            a.provider = 'provider'
            or requested.counts_local
          )
      ) named
    where
      named.document = requested.document
      or has_key
      or named.account_number = requested.account_number
      and (
        requested.agency is null
        or (
          ltrim(named.agency, '0') = ltrim(requested.agency, '0')
          or ltrim(named.agency, '0') like ltrim(requested.agency, '0') || '-_'
        )
      )
    order by
      agrees desc
    limit
      2
  ) payee
order by
  ordinal,
  agrees desc;

-- src/ledger/payment-repository.ts: pix-find-attempts
-- $1 id
select
  at
from
  pix_timeline
where
  transaction_id = $1::uuid
  and phase = 'PAYING'
order by
  id;

-- src/ledger/payment-repository.ts: pix-has-reached
-- $1 id
update pix_transactions t
set
  reached_payee = true
where
  t.id = $1::uuid
  and t.operation = 'SEND'
  and (
    t.reached_payee
    or exists (
      select
      from
        pix_transactions received
      where
        received.end_to_end = t.end_to_end
        and received.operation in ('CHARGE', 'RECEIVED')
        and received.status = 'COMPLETED'
        and received.user_id <> t.user_id
    )
  )
returning
  t.id;

-- src/ledger/payment-repository.ts: pix-key-holder
-- $1 idempotencyKey, $2 excludedId
select
  id
from
  pix_transactions
where
  idempotency_key = $1::text
  and operation = 'SEND'
  and id <> $2::uuid
  and end_to_end is not null
order by
  created_at,
  id
limit
  1;

-- src/ledger/payment-repository.ts: pix-never-left
-- $1 endToEnd
select
from
  pix_transactions
where
  end_to_end = $1::text
  and operation = 'SEND'
  and status = 'FAILED'
  and outcome = 'not_sent';

-- src/ledger/payment-repository.ts: pix-not-reached
-- $1 id
update pix_transactions
set
  reached_payee = null
where
  id = $1::uuid
  and reached_payee
returning
  id;

-- src/ledger/payment-repository.ts: pix-reached
-- $1 id
update pix_transactions
set
  reached_payee = true
where
  id = $1::uuid
returning
  status;

-- src/ledger/payment-repository.ts: pix-repeat
-- $1 id, $2 claimedUntil, $3 now, $4 attempt, $5 providerStatus, $6 httpStatus, $7 providerCode,
-- $8 note
with
  held as (
    select
      t.id
    from
      pix_transactions t
    where
      t.id = $1::uuid
      and t.settled_at is null
      and t.phase = 'PAYING'
      and t.claimed_until = $2::timestamptz
      and t.claimed_until > $3::timestamptz
      and 'ACTIVE' = (
        select
          a.status
        from
          accounts a
        where
          a.user_id = t.user_id
      )
      and not exists (
        select
        from
          webhook_waits wait
        where
          wait.id_value = t.end_to_end
      )
      and not exists (
        select
        from
          webhook_waits wait
          join webhook_events event on event.id = wait.event_id
        where
          wait.id_value = t.idempotency_key
          and event.received_at >= t.created_at - interval '10 minutes'
      )
    for no key update
  )
insert into
  pix_timeline (transaction_id, phase, at, attempt, provider_status, http_status, provider_code, note)
select
  id,
  'PAYING',
  $3::timestamptz,
  $4::int,
  $5::text,
  $6::int,
  $7::text,
  $8::text
from
  held
returning
  transaction_id;

-- src/ledger/payment-repository.ts: pix-settling-event
-- $1 transactionId
select
  event_id
from
  pix_timeline
where
  transaction_id = $1::uuid
  and phase = 'SETTLED'
  and event_id is not null;

-- src/ledger/payment-repository.ts: pix-step (batched)
-- $1 id, $2 toPhase, $3 endToEnd, $4 providerTxid, $5 now, $6 claimedUntil, $7 attempt, $8 payee,
-- $9 payeeClass, $10 lookUps
with
  requested as (
    select
      *
    from
      unnest(
        $1::uuid[],
        $2::text[],
        $3::text[],
        $4::text[],
        $5::timestamptz[],
        $6::timestamptz[],
        $7::int[],
        $8::text[],
        $9::text[],
        $10::int[]
      ) with ordinality as requested (
        id,
        to_phase,
        end_to_end,
        provider_txid,
        now,
        claimed_until,
        attempt,
        payee,
        payee_class,
        look_ups,
        ordinal
      )
  ),
  moved as (
    update pix_transactions t
    set
      phase = to_phase,
      claimed_until = requested.claimed_until,
      updated_at = requested.now,
      outcome = case to_phase
        when 'ACCEPTED' then 'accepted'
        else t.outcome
      end,
      end_to_end = coalesce(requested.end_to_end, t.end_to_end),
      payee = coalesce(requested.payee::jsonb, t.payee),
      payee_class = coalesce(requested.payee_class, t.payee_class),
      provider_txid = coalesce(requested.provider_txid, t.provider_txid)
    from
      requested
    where
      t.id = any (array[requested.id])
      and t.settled_at is null
      and t.phase = any (
        case to_phase
          when 'PAYING' then '{RESERVED,RESOLVED}'::text[]
          when 'ACCEPTED' then '{PAYING,UNKNOWN}'::text[]
        end
      )
      and coalesce(t.end_to_end = requested.end_to_end, true)
      and (
        to_phase <> 'PAYING'
        or (
          select
            a.status = 'ACTIVE'
            and case
              when exists (
                select
                from
                  pix_pauses
                where
                  ended_at is null
              ) then 'paused'
              when coalesce(
                (
                  select
                    max(id)
                  from
                    pix_pauses
                  where
                    lost_since is not null
                ),
                0
              ) > coalesce(a.loss_read, 0) then 'unread'
              when a.blocked_by is not null
              and exists (
                select
                from
                  reconciliation_differences line
                where
                  line.user_id = a.user_id
                  and line.blocks in (t.operation, 'ANY')
                  and coalesce(line.amount = t.amount, true)
                  and line.closed_at is null
                  and not exists (
                    select
                    from
                      pix_transactions t
                    where
                      t.end_to_end = line.subject
                      and t.operation in ('SEND', 'REFUND_OUT')
                  )
              ) then 'unaccounted'
            end is null
          from
            accounts a
          where
            a.user_id = t.user_id
        ) is true
        and t.payee_class is distinct from 'unknown'
      )
    returning
      requested.ordinal,
      requested.attempt,
      requested.look_ups,
      t.id,
      t.user_id,
      requested.provider_txid as reported_txid,
      t.phase,
      t.updated_at
  ),
  noted as (
    insert into
      pix_timeline (transaction_id, phase, at, attempt, provider_status, provider_txid)
    select
      id,
      phase,
      updated_at,
      attempt,
      case phase
        when 'ACCEPTED' then '2xx'
      end,
      reported_txid
    from
      moved
    order by
      ordinal
  ),
  returned as (
    select
      'pix-look-ups:' || user_id as key,
      sum(look_ups)::int as look_ups
    from
      moved
    where
      look_ups > 0
    group by
      user_id
  ),
  bucket as (
    select
      c.key,
      returned.look_ups
    from
      throttle_counters c
      join returned on returned.key = c.key
    order by
      c.key
    for update of
      c
  ),
  credited as (
    update throttle_counters c
    set
      expires_at = c.expires_at - interval '30 seconds' * bucket.look_ups
    from
      bucket
    where
      c.key = bucket.key
  )
select
  ordinal
from
  moved;

-- src/ledger/pix-transaction-repository.ts: pix-anomaly (batched)
-- $1 id, $2 now, $3 eventId, $4 reason
with
  requested as (
    select
      *
    from
      unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[]) with ordinality as requested (id, now, event_id, reason, ordinal)
  ),
  noted as (
    insert into
      pix_timeline (transaction_id, phase, at, event_id, note)
    select
      requested.id,
      'ANOMALY',
      requested.now,
      requested.event_id,
      requested.reason
    from
      requested
    where
      not exists (
        select
        from
          pix_timeline
        where
          transaction_id = requested.id
          and phase = 'ANOMALY'
          and event_id is not distinct from requested.event_id
          and note = requested.reason
      )
    returning
      transaction_id
  )
select
  ordinal
from
  requested
  join noted on transaction_id = requested.id;

-- src/ledger/pix-transaction-repository.ts: pix-find (batched)
-- $1 id, $2 userId
select
  requested.ordinal,
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.qr_code as "qrCode",
  t.copy_paste as "copyPaste"
from
  unnest($1::uuid[], $2::int[]) with ordinality as requested (id, user_id, ordinal)
  join pix_transactions t on t.id = requested.id
  and t.user_id = requested.user_id;

-- src/ledger/pix-transaction-repository.ts: pix-list
-- $1 userId, $2 from, $3 until, $4 limit
select
  id,
  operation,
  amount,
  status,
  pix_key as "pixKey",
  provider_txid as "providerTxid",
  original_id as "originalId",
  end_to_end as "endToEnd",
  description,
  case
    when t.operation = 'REFUND_IN' then (
      select
        original.payee
      from
        pix_transactions original
      where
        original.id = t.original_id
    )
    else t.payee
  end as payee,
  (
    select
      original.end_to_end
    from
      pix_transactions original
    where
      original.id = t.original_id
  ) as "originalEndToEnd",
  to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
from
  pix_transactions t
where
  user_id = $1::int
  and created_at >= $2::timestamptz
  and created_at < $3::timestamptz
  and amount is not null
  and not (
    operation = 'RECEIVED'
    and (
      select
        charge.user_id
      from
        pix_transactions charge
      where
        charge.end_to_end = t.end_to_end
        and charge.operation = 'CHARGE'
    ) is not distinct from t.user_id
  )
order by
  created_at desc,
  id desc
limit
  $4::int;

-- src/ledger/pix-transaction-repository.ts: pix-take-over
-- $1 id, $2 claimedUntil, $3 now
update pix_transactions t
set
  claimed_until = $2::timestamptz
where
  id = $1::uuid
  and settled_at is null
  and phase in ('RESERVED', 'RESOLVED')
  and (
    t.claimed_until is null
    or t.claimed_until <= $3::timestamptz
  )
returning
  id,
  user_id as "userId",
  operation,
  idempotency_key as "idempotencyKey",
  status,
  phase,
  outcome,
  failure_code as "failureCode",
  amount,
  end_to_end as "endToEnd",
  transaction_identification as "transactionIdentification",
  qr_code as "qrCode",
  copy_paste as "copyPaste",
  expires_at as "expiresAt";

-- src/ledger/pix-transaction-repository.ts: pix-view (batched)
-- $1 sessionId, $2 userId, $3 now, $4 id
select
  requested.ordinal,
  t.id,
  t.status,
  t.outcome,
  t.failure_code as "failureCode",
  t.qr_code as "qrCode",
  t.copy_paste as "copyPaste",
  t.expires_at as "expiresAt",
  t.held_at as "heldAt",
  t.created_at as "createdAt",
  t.corrected_at as "correctedAt",
  t.paid_again_by as "paidAgainBy",
  t.overruled_at as "overruledAt"
from
  unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::uuid[]) with ordinality as requested (session_id, user_id, now, id, ordinal)
  join lateral (
    select
      *
    from
      banking_sessions
    where
      id = requested.session_id
    limit
      1
  ) s on s.user_id = requested.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > requested.now
  )
  join users u on u.id = s.user_id
  and u.status = 'ACTIVE'
  left join lateral (
    select
      id,
      status,
      outcome,
      failure_code,
      qr_code,
      copy_paste,
      expires_at,
      held_at,
      created_at,
      corrected_at,
      paid_again_by,
      overruled_at,
      user_id
    from
      pix_transactions
    where
      id = requested.id
    limit
      1
  ) t on t.user_id = u.id;

-- src/ledger/refund-repository.ts: pix-refund (batched)
-- $1 id, $2 originalId, $3 operation, $4 amount, $5 returnId, $6 providerTxid, $7 now, $8 eventId,
-- $9 reportedAt, $10 endToEnd, $11 note
with
  requested as (
    select
      requested.*,
      case
        when reported_at between event.received_at - interval '90 days' and event.received_at + interval '5 minutes' then reported_at
        else event.received_at
      end as at
    from
      unnest(
        $1::uuid[],
        $2::uuid[],
        $3::text[],
        $4::numeric[],
        $5::text[],
        $6::text[],
        $7::timestamptz[],
        $8::uuid[],
        $9::timestamptz[],
        $10::text[],
        $11::text[]
      ) with ordinality as requested (
        id,
        original_id,
        operation,
        amount,
        return_id,
        provider_txid,
        now,
        event_id,
        reported_at,
        end_to_end,
        note,
        ordinal
      )
      join lateral (
        select
          coalesce(
            (
              select
                received_at
              from
                webhook_events
              where
                id = any (array[requested.event_id])
            ),
            requested.now
          ) as received_at
      ) event on true
  ),
  seen as materialized (
    select
      requested.ordinal,
      coalesce(t.refunded_amount, 0) as refunded_amount,
      (
        select
          reversal.id
        from
          pix_transactions reversal
        where
          reversal.original_id = t.id
          and reversal.operation = requested.operation
          and reversal.end_to_end is null
          and reversal.amount = requested.amount
          and not exists (
            select
            from
              pix_transactions refund
            where
              refund.end_to_end = requested.return_id
              and refund.operation = requested.operation
          )
        order by
          reversal.created_at,
          reversal.id
        limit
          1
      ) as reversal_id
    from
      requested
      join pix_transactions t on t.id = any (array[requested.original_id])
  ),
  payment as (
    select
      requested.ordinal,
      t.id,
      t.user_id,
      t.amount,
      coalesce(t.refunded_amount, 0) as refunded_amount,
      coalesce(t.refunding_amount, 0) as refunding_amount
    from
      requested
      join pix_transactions t on t.end_to_end = any (array[requested.end_to_end])
    where
      t.status = 'COMPLETED'
      and (t.operation = 'SEND') = (requested.operation = 'REFUND_IN')
    order by
      t.id
    for update of
      t
  ),
  original as (
    select
      requested.ordinal,
      payment.user_id,
      (
        select
          sum(part.refunded_amount + part.refunding_amount)
        from
          payment part
        where
          part.ordinal = requested.ordinal
      ) + requested.amount <= payment.amount as fits,
      (
        select
          sum(part.refunded_amount)
        from
          payment part
        where
          part.ordinal = requested.ordinal
      ) + requested.amount <= payment.amount as may_fit,
      payment.refunded_amount = seen.refunded_amount as is_current,
      seen.reversal_id
    from
      requested
      join payment on payment.ordinal = requested.ordinal
      and payment.id = requested.original_id
      join seen on seen.ordinal = requested.ordinal
  ),
  adopted as (
    update pix_transactions t
    set
      end_to_end = requested.return_id,
      updated_at = requested.now,
      provider_txid = coalesce(t.provider_txid, requested.provider_txid)
    from
      requested
      join original using (ordinal)
    where
      t.id = any (array[original.reversal_id])
      and t.end_to_end is null
    returning
      requested.ordinal,
      t.id,
      t.updated_at
  ),
  noted_on_adopted as (
    insert into
      pix_timeline (transaction_id, phase, at, event_id, provider_txid, note)
    select
      adopted.id,
      'SETTLED',
      adopted.updated_at,
      requested.event_id,
      requested.provider_txid,
      'IDENTIFIED'
    from
      adopted
      join requested using (ordinal)
  ),
  stored as (
    insert into
      pix_transactions (
        id,
        user_id,
        operation,
        status,
        phase,
        outcome,
        amount,
        end_to_end,
        provider_txid,
        original_id,
        created_at,
        updated_at,
        settled_at
      )
    select
      requested.id,
      original.user_id,
      requested.operation,
      'COMPLETED',
      'SETTLED',
      'accepted',
      requested.amount,
      requested.return_id,
      requested.provider_txid,
      requested.original_id,
      requested.at,
      requested.now,
      requested.now
    from
      requested
      join original using (ordinal)
    where
      original.fits
      and original.is_current
      and original.reversal_id is null
    order by
      requested.return_id
    on conflict (end_to_end, operation)
    where
      end_to_end is not null do nothing
    returning
      id,
      original_id,
      amount,
      updated_at
  ),
  counted as (
    update pix_transactions t
    set
      refunded_amount = coalesce(t.refunded_amount, 0) + stored.amount,
      updated_at = stored.updated_at
    from
      stored
    where
      t.id = any (array[stored.original_id])
  ),
  noted as (
    insert into
      pix_timeline (transaction_id, phase, at, event_id, provider_txid, note)
    select
      stored.id,
      'SETTLED',
      stored.updated_at,
      requested.event_id,
      requested.provider_txid,
      requested.note
    from
      stored
      join requested using (id)
  ),
  noted_on_original as (
    insert into
      pix_timeline (transaction_id, phase, at, event_id, note)
    select
      stored.original_id,
      'SETTLED',
      stored.updated_at,
      requested.event_id,
      'REFUNDED ' || stored.id
    from
      stored
      join requested using (id)
  )
select
  requested.ordinal,
  coalesce(stored.id, adopted.id) as "storedId",
  known.id as "knownId",
  known.end_to_end = requested.end_to_end
  and known.amount = requested.amount as "isSame",
  known.status = 'COMPLETED' as "isMade",
  original.fits
  or not original.is_current
  or original.reversal_id is not null as fits,
  original.may_fit as "mayFit"
from
  requested
  left join original using (ordinal)
  left join stored on stored.id = requested.id
  left join adopted using (ordinal)
  left join lateral (
    select
      refund.id,
      refund.amount,
      refund.status,
      t.end_to_end
    from
      pix_transactions refund
      join pix_transactions t on t.id = refund.original_id
    where
      refund.end_to_end = requested.return_id
      and refund.operation = requested.operation
    limit
      1
  ) known on true;

-- src/ledger/refused-session-repository.ts: pix-allow-resume
-- $1 id
update pix_transactions t
set
  resumable_until = attempts.first_at + interval '10 minutes'
from
  (
    select
      min(at) filter (
        where
          phase = 'PAYING'
      ) as first_at,
      count(*) filter (
        where
          phase = 'PAYING'
      ) as made,
      count(
        distinct said.attempt - case
          when said.phase = 'PAYING' then 1
          else 0
        end
      ) filter (
        where
          (
            said.phase = 'UNKNOWN'
            or said.phase = 'PAYING'
            and said.attempt > 1
          )
          and said.http_status = 401
      ) as refused
    from
      pix_timeline said
    where
      transaction_id = $1::uuid
  ) as attempts
where
  t.id = $1::uuid
  and t.settled_at is null
  and t.phase = 'UNKNOWN'
  and t.resumable_until is null
  and attempts.made = attempts.refused;

-- src/ledger/refused-session-repository.ts: pix-forbid-resume
-- $1 id
update pix_transactions
set
  resumable_until = '1970-01-01Z'
where
  id = $1::uuid
  and settled_at is null;

-- src/ledger/refused-session-repository.ts: pix-resume-refused
-- $1 id, $2 claimedUntil, $3 now
with
  resumed as (
    update pix_transactions t
    set
      phase = 'PAYING',
      claimed_until = $2::timestamptz,
      updated_at = $3::timestamptz,
      resumable_until = null
    from
      (
        select
          min(at) filter (
            where
              phase = 'PAYING'
          ) as first_at,
          count(*) filter (
            where
              phase = 'PAYING'
          ) as made,
          count(
            distinct said.attempt - case
              when said.phase = 'PAYING' then 1
              else 0
            end
          ) filter (
            where
              (
                said.phase = 'UNKNOWN'
                or said.phase = 'PAYING'
                and said.attempt > 1
              )
              and said.http_status = 401
          ) as refused
        from
          pix_timeline said
        where
          transaction_id = $1::uuid
      ) as attempts
    where
      t.id = $1::uuid
      and t.settled_at is null
      and t.phase = 'UNKNOWN'
      and t.resumable_until > $3::timestamptz
      and (
        select
          a.status = 'ACTIVE'
          and case
            when exists (
              select
              from
                pix_pauses
              where
                ended_at is null
            ) then 'paused'
            when coalesce(
              (
                select
                  max(id)
                from
                  pix_pauses
                where
                  lost_since is not null
              ),
              0
            ) > coalesce(a.loss_read, 0) then 'unread'
            when a.blocked_by is not null
            and exists (
              select
              from
                reconciliation_differences line
              where
                line.user_id = a.user_id
                and line.blocks in (t.operation, 'ANY')
                and coalesce(line.amount = t.amount, true)
                and line.closed_at is null
                and not exists (
                  select
                  from
                    pix_transactions t
                  where
                    t.end_to_end = line.subject
                    and t.operation in ('SEND', 'REFUND_OUT')
                )
            ) then 'unaccounted'
          end is null
        from
          accounts a
        where
          a.user_id = t.user_id
      ) is true
      and not exists (
        select
        from
          webhook_waits wait
        where
          wait.id_value = t.end_to_end
      )
      and not exists (
        select
        from
          webhook_waits wait
          join webhook_events event on event.id = wait.event_id
        where
          wait.id_value = t.idempotency_key
          and event.received_at >= t.created_at - interval '10 minutes'
      )
    returning
      t.id,
      attempts.made
  ),
  noted as (
    insert into
      pix_timeline (transaction_id, phase, at, attempt, note)
    select
      id,
      'PAYING',
      $3::timestamptz,
      made::int + 1,
      'after_login'
    from
      resumed
  )
select
  made::int as attempts
from
  resumed;

-- src/ledger/replay-repository.ts: pix-find-replay (batched)
-- $1 sessionId, $2 userId, $3 now, $4 idempotencyKey, $5 fingerprint
select
  requested.ordinal,
  t.id,
  t.status,
  t.outcome,
  t.end_to_end as "endToEnd",
  t.held_at as "heldAt",
  t.created_at as "createdAt",
  t.failure_code as "failureCode"
from
  unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::text[], $5::bytea[]) with ordinality as requested (session_id, user_id, now, idempotency_key, fingerprint, ordinal)
  join lateral (
    select
      *
    from
      banking_sessions
    where
      id = requested.session_id
    limit
      1
  ) s on s.user_id = requested.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > requested.now
  )
  join users u on u.id = s.user_id
  and u.status = 'ACTIVE'
  join lateral (
    select
      id,
      status,
      outcome,
      end_to_end,
      held_at,
      created_at,
      failure_code,
      phase,
      fingerprint,
      resumable_until
    from
      pix_transactions
    where
      user_id = u.id
      and operation = 'SEND'
      and idempotency_key = requested.idempotency_key
    limit
      1
  ) t on t.fingerprint = requested.fingerprint
  and not t.phase in ('RESERVED', 'RESOLVED')
  and t.resumable_until is null;

-- src/ledger/replay-repository.ts: pix-outcome-of-key (batched)
-- $1 sessionId, $2 userId, $3 now, $4 operation, $5 idempotencyKey
select
  requested.ordinal,
  t.id,
  t.outcome,
  t.status,
  t.failure_code as "failureCode",
  t.amount,
  (
    (
      exists (
        select
        from
          pix_pauses
        where
          ended_at is null
      )
      or (
        select
          coalesce(
            (
              select
                max(id)
              from
                pix_pauses
              where
                lost_since is not null
            ),
            0
          ) > coalesce(a.loss_read, 0)
          or a.blocked_by is not null
          and exists (
            select
            from
              reconciliation_differences line
            where
              line.user_id = a.user_id
              and line.blocks is not null
              and line.closed_at is null
              and not exists (
                select
                from
                  pix_transactions t
                where
                  t.end_to_end = line.subject
                  and t.operation in ('SEND', 'REFUND_OUT')
              )
          )
        from
          accounts a
        where
          a.user_id = requested.user_id
      ) is true
    )
    or requested.operation = 'REFUND_OUT'
    and exists (
      select
      from
        pix_transactions refund
      where
        refund.user_id = requested.user_id
        and refund.operation = 'REFUND_OUT'
        and refund.idempotency_key is null
        and (
          refund.created_at + interval '10 minutes' >= (
            select
              min(lost_since)
            from
              pix_pauses
          )
        ) is true
    )
  ) as "mayBeLost"
from
  unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::text[], $5::text[]) with ordinality as requested (session_id, user_id, now, operation, idempotency_key, ordinal)
  join lateral (
    select
      *
    from
      banking_sessions
    where
      id = requested.session_id
    limit
      1
  ) s on s.user_id = requested.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > requested.now
  )
  join users u on u.id = s.user_id
  and u.status = 'ACTIVE'
  left join lateral (
    select
      id,
      outcome,
      status,
      failure_code,
      amount
    from
      pix_transactions
    where
      user_id = u.id
      and operation = requested.operation
      and idempotency_key = requested.idempotency_key
    limit
      1
  ) t on true;

-- src/ledger/reservation-repository.ts: pix-reserve (batched)
-- $1 id, $2 userId, $3 operation, $4 idempotencyKey, $5 fingerprint, $6 amount, $7 pixKey,
-- $8 description, $9 transactionIdentification, $10 claimedUntil, $11 now, $12 expiresAt
with
  requested as (
    select
      requested.*,
      (
        select
          a.status
        from
          users u
          join accounts a on a.user_id = u.id
        where
          u.id = requested.user_id
          and u.status = 'ACTIVE'
        for key share of
          u
      ) as account_status
    from
      unnest(
        $1::uuid[],
        $2::int[],
        $3::text[],
        $4::text[],
        $5::bytea[],
        $6::numeric[],
        $7::text[],
        $8::text[],
        $9::text[],
        $10::timestamptz[],
        $11::timestamptz[],
        $12::timestamptz[]
      ) with ordinality as requested (
        id,
        user_id,
        operation,
        idempotency_key,
        fingerprint,
        amount,
        pix_key,
        description,
        transaction_identification,
        claimed_until,
        now,
        expires_at,
        ordinal
      )
  ),
  reserved as (
    insert into
      pix_transactions (
        id,
        user_id,
        operation,
        idempotency_key,
        fingerprint,
        status,
        phase,
        amount,
        pix_key,
        description,
        transaction_identification,
        claimed_until,
        created_at,
        updated_at,
        expires_at
      )
    select
      id,
      user_id,
      operation,
      idempotency_key,
      fingerprint,
      'PROCESSING',
      'RESERVED',
      amount,
      pix_key,
      description,
      transaction_identification,
      claimed_until,
      now,
      now,
      expires_at
    from
      requested
    where
      account_status = 'ACTIVE'
    on conflict (user_id, operation, idempotency_key) do nothing
    returning
      id,
      phase,
      created_at
  )
select
  ordinal,
  account_status as "accountStatus",
  is_new
  or t.id = call.id as reserved,
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.qr_code as "qrCode",
  t.copy_paste as "copyPaste",
  t.fingerprint,
  t.claimed_until as "claimedUntil",
  t.held_at as "heldAt",
  t.created_at as "createdAt",
  t.resumable_until as "resumableUntil",
  t.expires_at as "expiresAt"
from
  (
    select
      *,
      id in (
        select
          id
        from
          reserved
      ) as is_new
    from
      requested
  )
call
left join lateral (
  select
    id,
    user_id,
    operation,
    idempotency_key,
    status,
    phase,
    outcome,
    failure_code,
    amount,
    end_to_end,
    transaction_identification,
    qr_code,
    copy_paste,
    fingerprint,
    claimed_until,
    held_at,
    created_at,
    resumable_until,
    expires_at
  from
    pix_transactions
  where
    user_id = call.user_id
    and operation = call.operation
    and idempotency_key = call.idempotency_key
    and not call.is_new
  limit
    1
) t on true;

-- src/ledger/reservation-repository.ts: pix-reserve-send (batched)
-- $1 sessionId, $2 userId, $3 now, $4 id, $5 idempotencyKey, $6 fingerprint, $7 amount, $8 pixKey,
-- $9 description, $10 claimedUntil, $11 namesLocal, $12 payeeClass, $13 endToEnd, $14 payee
with
  payer as (
    select
      requested.*,
      'SEND' as operation,
      null as transaction_identification,
      s.sealed_token,
      a.provider as account_provider,
      a.agency,
      a.account_number,
      coalesce(a.document, u.document) as account_document,
      a.status as account_status,
      case
        when exists (
          select
          from
            pix_pauses
          where
            ended_at is null
        ) then 'paused'
        when coalesce(
          (
            select
              max(id)
            from
              pix_pauses
            where
              lost_since is not null
          ),
          0
        ) > coalesce(a.loss_read, 0) then 'unread'
        when a.blocked_by is not null
        and exists (
          select
          from
            reconciliation_differences line
          where
            line.user_id = a.user_id
            and line.blocks in ('SEND', 'ANY')
            and coalesce(line.amount = requested.amount, true)
            and line.closed_at is null
            and not exists (
              select
              from
                pix_transactions t
              where
                t.end_to_end = line.subject
                and t.operation in ('SEND', 'REFUND_OUT')
            )
        ) then 'unaccounted'
      end as block,
      (
        coalesce(
          own.day,
          own.day_next,
          own.night,
          own.night_next,
          own.own_day,
          own.own_day_next,
          own.own_night,
          own.own_night_next
        ) is not null
        or own.own_by_payee is not null
      ) as is_limited,
      own.own_by_payee is not null as is_by_payee
    from
      unnest(
        $1::uuid[],
        $2::int[],
        $3::timestamptz[],
        $4::uuid[],
        $5::text[],
        $6::bytea[],
        $7::numeric[],
        $8::text[],
        $9::text[],
        $10::timestamptz[],
        $11::boolean[],
        $12::text[],
        $13::text[],
        $14::text[]
      ) with ordinality as requested (
        session_id,
        user_id,
        now,
        id,
        idempotency_key,
        fingerprint,
        amount,
        pix_key,
        description,
        claimed_until,
        names_local,
        payee_class,
        end_to_end,
        payee,
        ordinal
      )
      join lateral (
        select
          *
        from
          banking_sessions
        where
          id = requested.session_id
        limit
          1
      ) s on s.user_id = requested.user_id
      and s.status = 'ACTIVE'
      and (
        s.token_expires_at is null
        or s.token_expires_at > requested.now
      )
      join users u on u.id = s.user_id
      and u.status = 'ACTIVE'
      left join accounts a on a.user_id = u.id
      left join pix_limits own on own.user_id = requested.user_id
  ),
  reserved as (
    insert into
      pix_transactions (
        id,
        user_id,
        operation,
        idempotency_key,
        fingerprint,
        status,
        phase,
        amount,
        pix_key,
        description,
        transaction_identification,
        claimed_until,
        created_at,
        updated_at,
        end_to_end,
        payee,
        payee_class
      )
    select
      id,
      user_id,
      operation,
      idempotency_key,
      fingerprint,
      'PROCESSING',
      case
        when end_to_end is null then 'RESERVED'
        else 'PAYING'
      end,
      amount,
      pix_key,
      description,
      transaction_identification,
      claimed_until,
      now,
      now,
      end_to_end,
      payee::jsonb,
      payee_class
    from
      payer
    where
      block is null
      and account_status = 'ACTIVE'
      and (
        account_provider = 'provider'
        or names_local
      )
      and agency <> ''
      and account_number <> ''
      and account_document <> ''
      and not is_limited
    on conflict do nothing
    returning
      id,
      phase,
      created_at
  ),
  begun as (
    insert into
      pix_timeline (transaction_id, phase, at, attempt)
    select
      id,
      phase,
      created_at,
      1
    from
      reserved
    where
      phase = 'PAYING'
  )
select
  ordinal,
  sealed_token as "sealedToken",
  account_provider as "accountProvider",
  agency,
  account_number as "accountNumber",
  account_document as "accountDocument",
  account_status as "accountStatus",
  block,
  is_limited as "isLimited",
  is_by_payee as "isByPayee",
  is_new
  or t.id = call.id as reserved,
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.qr_code as "qrCode",
  t.copy_paste as "copyPaste",
  t.fingerprint,
  t.claimed_until as "claimedUntil",
  t.held_at as "heldAt",
  t.created_at as "createdAt",
  t.resumable_until as "resumableUntil"
from
  (
    select
      *,
      id in (
        select
          id
        from
          reserved
      ) as is_new
    from
      payer
  )
call
left join lateral (
  select
    id,
    user_id,
    operation,
    idempotency_key,
    status,
    phase,
    outcome,
    failure_code,
    amount,
    end_to_end,
    transaction_identification,
    qr_code,
    copy_paste,
    fingerprint,
    claimed_until,
    held_at,
    created_at,
    resumable_until
  from
    pix_transactions
  where
    user_id = call.user_id
    and operation = call.operation
    and idempotency_key = call.idempotency_key
    and not call.is_new
  limit
    1
) t on true;

-- src/ledger/reservation-repository.ts: pix-reserve-send-judged (batched)
-- $1 sessionId, $2 userId, $3 now, $4 id, $5 idempotencyKey, $6 fingerprint, $7 amount, $8 pixKey,
-- $9 description, $10 claimedUntil, $11 namesLocal, $12 payeeClass, $13 endToEnd, $14 payee,
-- $15 codeDigest, $16 codePayeeDigest, $17 codeKeyDigest, $18 judgedVersion
with
  payer as (
    select
      requested.*,
      'SEND' as operation,
      null as transaction_identification,
      s.sealed_token,
      a.provider as account_provider,
      a.agency,
      a.account_number,
      coalesce(a.document, u.document) as account_document,
      a.status as account_status,
      case
        when exists (
          select
          from
            pix_pauses
          where
            ended_at is null
        ) then 'paused'
        when coalesce(
          (
            select
              max(id)
            from
              pix_pauses
            where
              lost_since is not null
          ),
          0
        ) > coalesce(a.loss_read, 0) then 'unread'
        when a.blocked_by is not null
        and exists (
          select
          from
            reconciliation_differences line
          where
            line.user_id = a.user_id
            and line.blocks in ('SEND', 'ANY')
            and coalesce(line.amount = requested.amount, true)
            and line.closed_at is null
            and not exists (
              select
              from
                pix_transactions t
              where
                t.end_to_end = line.subject
                and t.operation in ('SEND', 'REFUND_OUT')
            )
        ) then 'unaccounted'
      end as block,
      coalesce(own.version, 0) as version
    from
      unnest(
        $1::uuid[],
        $2::int[],
        $3::timestamptz[],
        $4::uuid[],
        $5::text[],
        $6::bytea[],
        $7::numeric[],
        $8::text[],
        $9::text[],
        $10::timestamptz[],
        $11::boolean[],
        $12::text[],
        $13::text[],
        $14::text[],
        $15::bytea[],
        $16::bytea[],
        $17::bytea[],
        $18::int[]
      ) with ordinality as requested (
        session_id,
        user_id,
        now,
        id,
        idempotency_key,
        fingerprint,
        amount,
        pix_key,
        description,
        claimed_until,
        names_local,
        payee_class,
        end_to_end,
        payee,
        code_digest,
        code_payee_digest,
        code_key_digest,
        judged_version,
        ordinal
      )
      join lateral (
        select
          *
        from
          banking_sessions
        where
          id = requested.session_id
        limit
          1
      ) s on s.user_id = requested.user_id
      and s.status = 'ACTIVE'
      and (
        s.token_expires_at is null
        or s.token_expires_at > requested.now
      )
      join users u on u.id = s.user_id
      and u.status = 'ACTIVE'
      left join accounts a on a.user_id = u.id
      left join pix_limits own on own.user_id = requested.user_id
  ),
  first as (
    select
      user_id,
      version + 1 as next_version,
      min(ordinal) as ordinal
    from
      payer
    where
      judged_version = version
    group by
      user_id,
      version
  ),
  counted as (
    insert into
      pix_limits (user_id, version)
    select
      user_id,
      next_version
    from
      first
    order by
      user_id
    on conflict (user_id) do update
    set
      version = excluded.version
    where
      pix_limits.version = excluded.version - 1
    returning
      user_id
  ),
  judged as (
    select
      payer.*,
      ordinal in (
        select
          ordinal
        from
          first
        where
          user_id in (
            select
              user_id
            from
              counted
          )
      ) as is_current
    from
      payer
  ),
  reserved as (
    insert into
      pix_transactions (
        id,
        user_id,
        operation,
        idempotency_key,
        fingerprint,
        status,
        phase,
        amount,
        pix_key,
        description,
        transaction_identification,
        claimed_until,
        created_at,
        updated_at,
        end_to_end,
        payee,
        code_digest,
        code_payee_digest,
        code_key_digest,
        payee_class
      )
    select
      id,
      user_id,
      operation,
      idempotency_key,
      fingerprint,
      'PROCESSING',
      case
        when end_to_end is null then 'RESERVED'
        else 'PAYING'
      end,
      amount,
      pix_key,
      description,
      transaction_identification,
      claimed_until,
      now,
      now,
      end_to_end,
      payee::jsonb,
      code_digest,
      code_payee_digest,
      code_key_digest,
      payee_class
    from
      judged
    where
      block is null
      and account_status = 'ACTIVE'
      and (
        account_provider = 'provider'
        or names_local
      )
      and agency <> ''
      and account_number <> ''
      and account_document <> ''
      and is_current
    on conflict do nothing
    returning
      id,
      phase,
      created_at
  ),
  begun as (
    insert into
      pix_timeline (transaction_id, phase, at, attempt)
    select
      id,
      phase,
      created_at,
      1
    from
      reserved
    where
      phase = 'PAYING'
  )
select
  ordinal,
  sealed_token as "sealedToken",
  account_provider as "accountProvider",
  agency,
  account_number as "accountNumber",
  account_document as "accountDocument",
  account_status as "accountStatus",
  block,
  is_current as "isCurrent",
  is_new
  or t.id = call.id as reserved,
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.qr_code as "qrCode",
  t.copy_paste as "copyPaste",
  t.fingerprint,
  t.claimed_until as "claimedUntil",
  t.held_at as "heldAt",
  t.created_at as "createdAt",
  t.resumable_until as "resumableUntil"
from
  (
    select
      *,
      id in (
        select
          id
        from
          reserved
      ) as is_new
    from
      judged
  )
call
left join lateral (
  select
    id,
    user_id,
    operation,
    idempotency_key,
    status,
    phase,
    outcome,
    failure_code,
    amount,
    end_to_end,
    transaction_identification,
    qr_code,
    copy_paste,
    fingerprint,
    claimed_until,
    held_at,
    created_at,
    resumable_until
  from
    pix_transactions
  where
    user_id = call.user_id
    and operation = call.operation
    and idempotency_key = call.idempotency_key
    and not call.is_new
  limit
    1
) t on true;

-- src/ledger/return-reservation-repository.ts: pix-reserve-return (batched)
-- $1 sessionId, $2 userId, $3 now, $4 id, $5 idempotencyKey, $6 fingerprint, $7 amount,
-- $8 transactionId, $9 endToEnd, $10 description, $11 claimedUntil, $12 namesLocal
with
  payer as (
    select
      requested.*,
      'REFUND_OUT' as operation,
      null as transaction_identification,
      s.sealed_token,
      a.provider as account_provider,
      a.agency,
      a.account_number,
      coalesce(a.document, u.document) as account_document,
      a.status as account_status,
      case
        when exists (
          select
          from
            pix_pauses
          where
            ended_at is null
        ) then 'paused'
        when coalesce(
          (
            select
              max(id)
            from
              pix_pauses
            where
              lost_since is not null
          ),
          0
        ) > coalesce(a.loss_read, 0) then 'unread'
        when a.blocked_by is not null
        and exists (
          select
          from
            reconciliation_differences line
          where
            line.user_id = a.user_id
            and line.blocks in ('REFUND_OUT', 'ANY')
            and coalesce(line.amount = requested.amount, true)
            and line.closed_at is null
            and not exists (
              select
              from
                pix_transactions t
              where
                t.end_to_end = line.subject
                and t.operation in ('SEND', 'REFUND_OUT')
            )
        ) then 'unaccounted'
      end as block
    from
      unnest(
        $1::uuid[],
        $2::int[],
        $3::timestamptz[],
        $4::uuid[],
        $5::text[],
        $6::bytea[],
        $7::numeric[],
        $8::uuid[],
        $9::text[],
        $10::text[],
        $11::timestamptz[],
        $12::boolean[]
      ) with ordinality as requested (
        session_id,
        user_id,
        now,
        id,
        idempotency_key,
        fingerprint,
        amount,
        transaction_id,
        end_to_end,
        description,
        claimed_until,
        names_local,
        ordinal
      )
      join lateral (
        select
          *
        from
          banking_sessions
        where
          id = requested.session_id
        limit
          1
      ) s on s.user_id = requested.user_id
      and s.status = 'ACTIVE'
      and (
        s.token_expires_at is null
        or s.token_expires_at > requested.now
      )
      join users u on u.id = s.user_id
      and u.status = 'ACTIVE'
      left join accounts a on a.user_id = u.id
  ),
  named as (
    select
      payer.ordinal,
      payer.end_to_end as return_id,
      t.id,
      t.operation,
      t.status,
      t.amount,
      t.end_to_end,
      case t.operation
        when 'CHARGE' then t.settled_at
        else t.created_at
      end as received_at
    from
      payer
      join pix_transactions t on t.id = any (array[payer.transaction_id])
      and t.user_id = payer.user_id
  ),
  seen as (
    select
      named.ordinal,
      sum(coalesce(t.refunded_amount, 0) + coalesce(t.refunding_amount, 0)) as refunded
    from
      named
      join pix_transactions t on t.end_to_end = any (array[named.end_to_end])
    where
      t.operation in ('CHARGE', 'RECEIVED')
      and t.status = 'COMPLETED'
    group by
      named.ordinal
  ),
  payment as (
    select
      named.ordinal,
      t.id,
      t.user_id,
      t.operation,
      coalesce(t.refunded_amount, 0) + coalesce(t.refunding_amount, 0) as refunded
    from
      named
      join pix_transactions t on t.end_to_end = any (array[named.end_to_end])
    where
      t.operation in ('CHARGE', 'RECEIVED')
      and t.status = 'COMPLETED'
    order by
      t.id
    for update of
      t
  ),
  summed as (
    select
      ordinal,
      sum(refunded) as refunded
    from
      payment
    group by
      ordinal
  ),
  original as (
    select
      named.ordinal,
      named.operation,
      named.status,
      named.received_at,
      named.end_to_end,
      named.amount - summed.refunded as left_amount,
      coalesce(seen.refunded = summed.refunded, true) as is_current,
      (
        select
          payment.id
        from
          payment
          join payer using (ordinal)
        where
          payment.ordinal = named.ordinal
          and payment.user_id = payer.user_id
        order by
          payment.operation,
          payment.id
        limit
          1
      ) as original_id,
      (
        select
          refund.id
        from
          payment
          join pix_transactions refund on refund.original_id = payment.id
        where
          payment.ordinal = named.ordinal
          and refund.operation = 'REFUND_OUT'
          and refund.idempotency_key is null
          and right(refund.end_to_end, 11) = right(named.return_id, 11)
          and left(refund.end_to_end, 9) = left(named.return_id, 9)
        order by
          refund.id
        limit
          1
      ) as known_id
    from
      named
      left join seen on seen.ordinal = named.ordinal
      left join summed on summed.ordinal = named.ordinal
  ),
  judged as (
    select
      payer.*,
      null as pix_key,
      original.end_to_end as original_end_to_end,
      original.original_id,
      original.left_amount,
      original.known_id,
      coalesce(original.is_current, true) as is_current,
      case
        when original.ordinal is null then 'not_found'
        when original.operation not in ('CHARGE', 'RECEIVED') then 'not_received'
        when original.status = 'COMPLETED'
        and original.end_to_end is null then 'no_end_to_end'
        when original.original_id is null then 'not_completed'
        when original.received_at < payer.now - interval '90 days' then 'too_late'
        when payer.amount > original.left_amount then 'too_much'
      end as refusal
    from
      payer
      left join original on original.ordinal = payer.ordinal
  ),
  reserved as (
    insert into
      pix_transactions (
        id,
        user_id,
        operation,
        idempotency_key,
        fingerprint,
        status,
        phase,
        amount,
        pix_key,
        description,
        transaction_identification,
        claimed_until,
        created_at,
        updated_at,
        end_to_end,
        original_id
      )
    select
      id,
      user_id,
      operation,
      idempotency_key,
      fingerprint,
      'PROCESSING',
      'RESERVED',
      amount,
      pix_key,
      description,
      transaction_identification,
      claimed_until,
      now,
      now,
      end_to_end,
      original_id
    from
      judged
    where
      block is null
      and account_status = 'ACTIVE'
      and (
        account_provider = 'provider'
        or names_local
      )
      and agency <> ''
      and account_number <> ''
      and account_document <> ''
      and is_current
      and refusal is null
      and known_id is null
    on conflict (user_id, operation, idempotency_key) do nothing
    returning
      id,
      phase,
      created_at
  )
select
  ordinal,
  sealed_token as "sealedToken",
  account_provider as "accountProvider",
  agency,
  account_number as "accountNumber",
  account_document as "accountDocument",
  account_status as "accountStatus",
  block,
  original_end_to_end as "originalEndToEnd",
  is_current as "isCurrent",
  refusal as "unreturnable",
  left_amount as "leftAmount",
  is_new
  or t.id = call.id as reserved,
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.qr_code as "qrCode",
  t.copy_paste as "copyPaste",
  t.fingerprint,
  t.claimed_until as "claimedUntil",
  t.held_at as "heldAt",
  t.created_at as "createdAt",
  t.resumable_until as "resumableUntil"
from
  (
    select
      *,
      id in (
        select
          id
        from
          reserved
      ) as is_new
    from
      judged
  )
call
left join lateral (
  select
    id,
    user_id,
    operation,
    idempotency_key,
    status,
    phase,
    outcome,
    failure_code,
    amount,
    end_to_end,
    transaction_identification,
    qr_code,
    copy_paste,
    fingerprint,
    claimed_until,
    held_at,
    created_at,
    resumable_until
  from
    pix_transactions
  where
    user_id = call.user_id
    and operation = call.operation
    and (
      idempotency_key = call.idempotency_key
      or id = call.known_id
    )
    and not call.is_new
  limit
    1
) t on true;

-- src/ledger/reversal-repository.ts: pix-reversal
-- $1 id, $2 originalId, $3 amount, $4 providerTxid, $5 nth, $6 now, $7 isDryRun
with
  seen as materialized (
    select
      refunded_amount,
      (
        select
          count(*)
        from
          pix_transactions refund
        where
          refund.original_id = $2::uuid
          and refund.operation = 'REFUND_IN'
          and refund.amount = $3::numeric
      ) as times,
      exists (
        select
        from
          pix_transactions refund
        where
          refund.original_id = $2::uuid
          and refund.operation = 'REFUND_IN'
          and refund.amount = $3::numeric
          and (
            refund.end_to_end is not null
            or coalesce(refund.provider_txid = $4::text, true)
          )
      ) as may_be_own
    from
      pix_transactions
    where
      id = $2::uuid
  ),
  payment as (
    select
      t.id,
      t.user_id,
      t.amount,
      coalesce(t.refunded_amount, 0) as refunded_amount
    from
      pix_transactions t
    where
      t.id = $2::uuid
      and t.operation = 'SEND'
      and t.status = 'COMPLETED'
    for update
  ),
  judged as (
    select
      payment.id,
      payment.user_id,
      payment.refunded_amount = coalesce(seen.refunded_amount, 0) as is_current,
      seen.times >= $5::int as is_counted,
      seen.may_be_own,
      payment.refunded_amount + $3::numeric <= payment.amount as fits
    from
      payment,
      seen
  ),
  stored as (
    insert into
      pix_transactions (
        id,
        user_id,
        operation,
        status,
        phase,
        outcome,
        amount,
        provider_txid,
        original_id,
        created_at,
        updated_at,
        settled_at
      )
    select
      $1::uuid,
      user_id,
      'REFUND_IN',
      'COMPLETED',
      'SETTLED',
      'accepted',
      $3::numeric,
      $4::text,
      judged.id,
      $6::timestamptz,
      $6::timestamptz,
      $6::timestamptz
    from
      judged
    where
      is_current
      and not is_counted
      and fits
      and not $7::boolean
    returning
      id,
      original_id,
      amount
  ),
  counted as (
    update pix_transactions t
    set
      refunded_amount = coalesce(t.refunded_amount, 0) + stored.amount,
      updated_at = $6::timestamptz
    from
      stored
    where
      t.id = stored.original_id
  ),
  noted as (
    insert into
      pix_timeline (transaction_id, phase, at, provider_txid, note)
    select
      id,
      'SETTLED',
      $6::timestamptz,
      $4::text,
      'found_in_statement'
    from
      stored
  ),
  noted_on_original as (
    insert into
      pix_timeline (transaction_id, phase, at, note)
    select
      original_id,
      'SETTLED',
      $6::timestamptz,
      'REFUNDED ' || id
    from
      stored
  )
select
  stored.id as "storedId",
  judged.is_current as "isCurrent",
  is_counted
  and may_be_own as "isKnown",
  is_counted
  and not may_be_own as "isUnclear",
  judged.fits
from
  judged
  left join stored on true;

-- src/ledger/spending-limit-repository.ts: pix-limits-judge-again
-- $1 userId
update pix_limits
set
  version = version + 1
where
  user_id = $1::int
returning
  user_id;

-- src/ledger/spending-limit-repository.ts: pix-limits-lock
-- $1 userId, $2 now
insert into
  pix_limits as own (user_id, version)
values
  ($1::int, 1)
on conflict (user_id) do update
set
  version = own.version + 1
returning
  case
    when own.day_next_at <= $2::timestamptz then own.day_next
    else own.day
  end as "day",
  case
    when own.day_next_at > $2::timestamptz then own.day_next
  end as "dayNext",
  case
    when own.day_next_at > $2::timestamptz then own.day_next_at
  end as "dayNextAt",
  case
    when own.night_next_at <= $2::timestamptz then own.night_next
    else own.night
  end as "night",
  case
    when own.night_next_at > $2::timestamptz then own.night_next
  end as "nightNext",
  case
    when own.night_next_at > $2::timestamptz then own.night_next_at
  end as "nightNextAt",
  case
    when own.own_day_next_at <= $2::timestamptz then own.own_day_next
    else own.own_day
  end as "ownDay",
  case
    when own.own_day_next_at > $2::timestamptz then own.own_day_next
  end as "ownDayNext",
  case
    when own.own_day_next_at > $2::timestamptz then own.own_day_next_at
  end as "ownDayNextAt",
  case
    when own.own_night_next_at <= $2::timestamptz then own.own_night_next
    else own.own_night
  end as "ownNight",
  case
    when own.own_night_next_at > $2::timestamptz then own.own_night_next
  end as "ownNightNext",
  case
    when own.own_night_next_at > $2::timestamptz then own.own_night_next_at
  end as "ownNightNextAt",
  coalesce(
    case
      when own.night_hour_next_at <= $2::timestamptz then own.night_hour_next
      else own.night_hour
    end,
    20
  ) as "nightHour",
  coalesce(own.night_hour_next, 20) as "nightHourNext",
  case
    when own.night_hour_next_at > $2::timestamptz then own.night_hour_next_at
  end as "nightHourNextAt",
  own.own_by_payee as "ownByPayee",
  own.own_earlier as "ownEarlier";

-- src/ledger/spending-limit-repository.ts: pix-limits-read (batched)
-- $1 userId, $2 now, $3 began20, $4 began22, $5 excludedId, $6 amount, $7 codeDigest,
-- $8 codeAskedAt, $9 codePayeeDigest, $10 codeKeyDigest
select
  requested.ordinal,
  coalesce(own.version, 0) as version,
  case
    when own.day_next_at <= requested.now then own.day_next
    else own.day
  end as "day",
  case
    when own.day_next_at > requested.now then own.day_next
  end as "dayNext",
  case
    when own.day_next_at > requested.now then own.day_next_at
  end as "dayNextAt",
  case
    when own.night_next_at <= requested.now then own.night_next
    else own.night
  end as "night",
  case
    when own.night_next_at > requested.now then own.night_next
  end as "nightNext",
  case
    when own.night_next_at > requested.now then own.night_next_at
  end as "nightNextAt",
  case
    when own.own_day_next_at <= requested.now then own.own_day_next
    else own.own_day
  end as "ownDay",
  case
    when own.own_day_next_at > requested.now then own.own_day_next
  end as "ownDayNext",
  case
    when own.own_day_next_at > requested.now then own.own_day_next_at
  end as "ownDayNextAt",
  case
    when own.own_night_next_at <= requested.now then own.own_night_next
    else own.own_night
  end as "ownNight",
  case
    when own.own_night_next_at > requested.now then own.own_night_next
  end as "ownNightNext",
  case
    when own.own_night_next_at > requested.now then own.own_night_next_at
  end as "ownNightNextAt",
  coalesce(
    case
      when own.night_hour_next_at <= requested.now then own.night_hour_next
      else own.night_hour
    end,
    20
  ) as "nightHour",
  coalesce(own.night_hour_next, 20) as "nightHourNext",
  case
    when own.night_hour_next_at > requested.now then own.night_hour_next_at
  end as "nightHourNextAt",
  own.own_by_payee as "ownByPayee",
  sent.payee_class as "payeeClass",
  sent.phase,
  sent.spent,
  case
    when requested.code_digest is not null then coalesce(
      (
        select
          case
            when t.code_digest = '\x' then 'PERHAPS'
            else t.status
          end
        from
          pix_transactions t
        where
          t.user_id = requested.user_id
          and (
            t.code_digest in (requested.code_digest, '\x')
            or t.code_payee_digest = requested.code_payee_digest
            or t.code_key_digest = requested.code_key_digest
          )
          and t.status <> 'FAILED'
          and (
            t.code_digest <> '\x'
            or coalesce(t.settled_at + interval '10 minutes' >= requested.code_asked_at, true)
          )
        order by
          t.code_digest desc
        limit
          1
      ),
      case
        when exists (
          select
          from
            reconciliation_differences line
          where
            line.user_id = requested.user_id
            and line.blocks in ('SEND', 'ANY')
            and line.found_at + interval '10 minutes' >= requested.code_asked_at
            and line.closed_at is null
            and not exists (
              select
              from
                pix_transactions t
              where
                t.end_to_end = line.subject
                and t.operation in ('SEND', 'REFUND_OUT')
            )
        ) then 'PERHAPS'
      end
    )
  end as "codeHolder",
  case
    when exists (
      select
      from
        pix_pauses
      where
        ended_at is null
    ) then 'paused'
    when coalesce(
      (
        select
          max(id)
        from
          pix_pauses
        where
          lost_since is not null
      ),
      0
    ) > coalesce(a.loss_read, 0) then 'unread'
    when a.blocked_by is not null
    and exists (
      select
      from
        reconciliation_differences line
      where
        line.user_id = a.user_id
        and line.blocks in ('SEND', 'ANY')
        and coalesce(line.amount = requested.amount, true)
        and line.closed_at is null
        and not exists (
          select
          from
            pix_transactions t
          where
            t.end_to_end = line.subject
            and t.operation in ('SEND', 'REFUND_OUT')
        )
    ) then 'unaccounted'
  end as block
from
  unnest(
    $1::int[],
    $2::timestamptz[],
    $3::timestamptz[],
    $4::timestamptz[],
    $5::uuid[],
    $6::numeric[],
    $7::bytea[],
    $8::timestamptz[],
    $9::bytea[],
    $10::bytea[]
  ) with ordinality as requested (
    user_id,
    now,
    began_20,
    began_22,
    excluded_id,
    amount,
    code_digest,
    code_asked_at,
    code_payee_digest,
    code_key_digest,
    ordinal
  )
  left join pix_limits own on own.user_id = requested.user_id
  left join accounts a on a.user_id = requested.user_id
  left join lateral (
    select
      t.payee_class,
      t.phase,
      sum(t.amount) as spent
    from
      pix_transactions t
    where
      t.user_id = requested.user_id
      and t.operation = 'SEND'
      and t.status <> 'FAILED'
      and t.created_at >= case
        when coalesce(
          case
            when own.night_hour_next_at <= requested.now then own.night_hour_next
            else own.night_hour
          end,
          20
        ) = 22 then requested.began_22
        else requested.began_20
      end
      and t.id is distinct from requested.excluded_id
    group by
      t.payee_class,
      t.phase
  ) sent on true;

-- src/ledger/spending-limit-repository.ts: pix-limits-read-earlier
-- $1 userId
select
  own_earlier as "ownEarlier"
from
  pix_limits
where
  user_id = $1::int;

-- src/ledger/spending-limit-repository.ts: pix-limits-store
-- $1 userId, $2 day, $3 dayNext, $4 dayNextAt, $5 night, $6 nightNext, $7 nightNextAt, $8 ownDay,
-- $9 ownDayNext, $10 ownDayNextAt, $11 ownNight, $12 ownNightNext, $13 ownNightNextAt,
-- $14 nightHour, $15 nightHourNext, $16 nightHourNextAt, $17 ownByPayee, $18 ownEarlier
update pix_limits
set
  day = $2::numeric,
  day_next = $3::numeric,
  day_next_at = $4::timestamptz,
  night = $5::numeric,
  night_next = $6::numeric,
  night_next_at = $7::timestamptz,
  own_day = $8::numeric,
  own_day_next = $9::numeric,
  own_day_next_at = $10::timestamptz,
  own_night = $11::numeric,
  own_night_next = $12::numeric,
  own_night_next_at = $13::timestamptz,
  night_hour = $14::int,
  night_hour_next = $15::int,
  night_hour_next_at = $16::timestamptz,
  own_by_payee = $17::jsonb,
  own_earlier = $18::jsonb
where
  user_id = $1::int;

-- src/ledger/spending-limit-repository.ts: pix-store-payee-class
-- $1 id, $2 userId, $3 payeeClass, $4 nextVersion, $5 since
with
  counted as (
    insert into
      pix_limits (user_id, version)
    values
      ($2::int, $4::int)
    on conflict (user_id) do update
    set
      version = excluded.version
    where
      pix_limits.version = excluded.version - 1
    returning
      user_id
  ),
  stored as (
    update pix_transactions t
    set
      payee_class = $3::text
    from
      counted
    where
      t.id = $1::uuid
      and t.user_id = counted.user_id
      and t.phase in ('RESERVED', 'RESOLVED')
      and coalesce(t.created_at >= $5::timestamptz, true)
    returning
      t.id
  )
select
  exists (
    select
    from
      counted
  ) as "isCurrent",
  exists (
    select
    from
      stored
  ) as "isStored",
  exists (
    select
    from
      pix_transactions t
    where
      t.id = $1::uuid
      and t.created_at < $5::timestamptz
  ) as "isEarlier";

-- src/ledger/sweep-repository.ts: after-crash-claims
update pix_transactions t
set
  claimed_until = null
from
  pix_open open
where
  t.id = any (array[open.transaction_id])
  and t.status = 'PROCESSING'
  and t.qr_code is null
  and claimed_until is not null;

-- src/ledger/sweep-repository.ts: pix-expired
-- $1 expiredBefore, $2 now, $3 limit
select
  t.id,
  t.user_id as "userId",
  t.amount,
  t.transaction_identification as "transactionIdentification",
  t.created_at as "createdAt",
  t.expires_at as "expiresAt",
  s.id as "sessionId",
  s.sealed_token as "sealedToken"
from
  (
    select
      transaction_id
    from
      pix_open
    where
      expires_at <= $1::timestamptz
  ) open
  join pix_transactions t on t.id = any (array[open.transaction_id])
  left join banking_sessions s on s.user_id = t.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > $2::timestamptz
  )
where
  t.status = 'PROCESSING'
  and t.phase = 'ACCEPTED'
order by
  t.updated_at
limit
  $3::int;

-- src/ledger/sweep-repository.ts: pix-stale
-- $1 phases, $2 untouchedSince, $3 now, $4 limit
select
  id
from
  (
    select
      transaction_id
    from
      pix_open
    where
      not has_code
  ) open
  join pix_transactions t on t.id = any (array[open.transaction_id])
where
  t.status = 'PROCESSING'
  and t.qr_code is null
  and created_at <= $2::timestamptz
  and phase = any ($1::text[])
  and t.updated_at <= $2::timestamptz
  and (
    t.claimed_until is null
    or t.claimed_until <= $3::timestamptz
  )
  and (
    phase = 'PAYING'
    or not (
      t.operation in ('SEND', 'REFUND_OUT')
      and (
        exists (
          select
          from
            pix_pauses
          where
            ended_at is null
        )
        or (
          select
            coalesce(
              (
                select
                  max(id)
                from
                  pix_pauses
                where
                  lost_since is not null
              ),
              0
            ) > coalesce(a.loss_read, 0)
            or a.blocked_by is not null
            and exists (
              select
              from
                reconciliation_differences line
              where
                line.user_id = a.user_id
                and line.blocks is not null
                and line.closed_at is null
                and not exists (
                  select
                  from
                    pix_transactions t
                  where
                    t.end_to_end = line.subject
                    and t.operation in ('SEND', 'REFUND_OUT')
                )
            )
          from
            accounts a
          where
            a.user_id = t.user_id
        ) is true
      )
    )
  )
order by
  updated_at
limit
  $4::int;

-- src/ledger/sweep-repository.ts: pix-touch-unconfirmed
-- $1 ids, $2 now
update pix_transactions
set
  updated_at = $2::timestamptz
where
  id = any ($1::uuid[])
  and phase in ('UNKNOWN', 'ACCEPTED')
  and status = 'PROCESSING';

-- src/ledger/sweep-repository.ts: pix-unconfirmed
-- $1 now, $2 acceptedBefore, $3 limit
select
  t.id,
  t.user_id as "userId",
  t.operation,
  t.amount,
  t.idempotency_key as "idempotencyKey",
  t.end_to_end as "endToEnd",
  t.created_at as "createdAt",
  t.outcome,
  s.id as "sessionId",
  s.sealed_token as "sealedToken",
  waiting.attempted_at as "attemptedAt",
  t.payee ->> 'ispb' as "payeeIspb",
  waiting.failures > 0 as "hasFailureReport",
  waiting.attempts = waiting.refusals
  and not (
    (
      t.operation in ('SEND', 'REFUND_OUT')
      and exists (
        select
        from
          pix_pauses
        where
          lost_since <= t.created_at + interval '10 minutes'
          and (
            ended_at is null
            or ended_at >= t.created_at - interval '10 minutes'
          )
      )
    )
  ) as "wasRefusedForSession"
from
  (
    select
      transaction_id
    from
      pix_open
    where
      not has_code
  ) open
  join pix_transactions t on t.id = any (array[open.transaction_id])
  join banking_sessions s on s.user_id = t.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > $1::timestamptz
  )
  join lateral (
    select
      min(at) filter (
        where
          phase = t.phase
      ) as since,
      max(at) filter (
        where
          phase = 'PAYING'
      ) as attempted_at,
      count(*) filter (
        where
          phase = 'PAYING'
      ) as attempts,
      count(
        distinct said.attempt - case
          when said.phase = 'PAYING' then 1
          else 0
        end
      ) filter (
        where
          (
            said.phase = 'UNKNOWN'
            or said.phase = 'PAYING'
            and said.attempt > 1
          )
          and said.http_status = 401
      ) as refusals,
      count(*) filter (
        where
          phase = 'ANOMALY'
          and note = 'failed_after_repeat'
      ) as failures
    from
      pix_timeline said
    where
      transaction_id = t.id
  ) waiting on true
where
  t.status = 'PROCESSING'
  and t.qr_code is null
  and t.operation in ('SEND', 'REFUND_OUT')
  and (
    t.phase = 'UNKNOWN'
    or t.phase = 'ACCEPTED'
    and t.created_at <= $2::timestamptz
  )
  and t.updated_at <= $1::timestamptz - least((t.updated_at - coalesce(waiting.since, t.created_at)) / 60, interval '1 hour')
order by
  t.updated_at
limit
  $3::int;

-- src/ledger/transaction-repository.ts: pix-candidates (batched)
-- $1 endToEnd, $2 clientRequestId, $3 txid, $4 providerTxid
select
  ordinal,
  found.id,
  found.user_id as "userId",
  found.operation,
  found.idempotency_key as "idempotencyKey",
  found.status,
  found.phase,
  found.outcome,
  found.failure_code as "failureCode",
  found.amount,
  found.end_to_end as "endToEnd",
  found.transaction_identification as "transactionIdentification",
  found.qr_code as "qrCode",
  found.copy_paste as "copyPaste",
  found.pix_key as "pixKey",
  found.provider_txid as "providerTxid",
  found.created_at as "createdAt",
  found.expires_at as "expiresAt",
  found.reached_payee as "reachedPayee",
  found.repeated,
  found.owner,
  found.paid_by as "paidBy"
from
  unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality as requested (end_to_end, client_request_id, txid, provider_txid, ordinal),
  lateral (
    select
      array(
        select
          transaction_id
        from
          pix_timeline
        where
          provider_txid = requested.provider_txid
      ) as ids
  ) reported,
  lateral (
    select
      t.id,
      t.user_id,
      t.operation,
      t.idempotency_key,
      t.status,
      t.phase,
      t.outcome,
      t.failure_code,
      t.amount,
      t.end_to_end,
      t.transaction_identification,
      t.qr_code,
      t.copy_paste,
      t.pix_key,
      case
        when t.id = any (reported.ids) then requested.provider_txid
        else t.provider_txid
      end as provider_txid,
      t.created_at,
      t.expires_at,
      t.reached_payee,
      t.status = 'PROCESSING'
      and (
        coalesce(
          (
            select
              true
            from
              pix_timeline attempt
            where
              attempt.transaction_id = t.id
              and attempt.phase = 'PAYING'
              and attempt.note in ('after_unknown', 'found_after_loss')
              and attempt.http_status is distinct from 401
            limit
              1
          ),
          false
        )
        or (
          t.operation in ('SEND', 'REFUND_OUT')
          and exists (
            select
            from
              pix_pauses
            where
              lost_since <= t.created_at + interval '10 minutes'
              and (
                ended_at is null
                or ended_at >= t.created_at - interval '10 minutes'
              )
          )
        )
      ) as repeated,
      case
        when t.operation = 'CHARGE' then (
          select
            array[a.agency, a.account_number, coalesce(a.document, u.document)]
          from
            accounts a
            join users u on u.id = a.user_id
          where
            a.user_id = t.user_id
        )
      end as owner,
      case
        when t.operation = 'CHARGE'
        and t.status = 'COMPLETED' then (
          select
            array[
              event_id::text,
              case
                when not exists (
                  select
                  from
                    pix_timeline earlier
                  where
                    earlier.transaction_id = step.transaction_id
                    and earlier.id < step.id
                    and earlier.provider_txid = step.provider_txid
                ) then provider_txid
              end
            ]
          from
            pix_timeline step
          where
            step.transaction_id = t.id
            and step.phase = 'SETTLED'
          order by
            (note like 'corrected%') is true desc,
            step.id
          limit
            1
        )
      end as paid_by
    from
      pix_transactions t
    where
      (
        t.end_to_end = requested.end_to_end
        and t.operation in ('SEND', 'CHARGE', 'RECEIVED')
      )
      or (
        t.idempotency_key = requested.client_request_id
        and t.operation = 'SEND'
        and t.amount is not null
      )
      or left(t.transaction_identification, 25) = left(requested.txid, 25)
      or t.id = any (reported.ids)
    order by
      (t.end_to_end = requested.end_to_end) is true desc,
      (left(t.transaction_identification, 25) = left(requested.txid, 25)) is true desc,
      (t.provider_txid = requested.provider_txid) is true desc
    limit
      20
  ) found
order by
  ordinal,
  (found.end_to_end = requested.end_to_end) is true desc,
  (left(found.transaction_identification, 25) = left(requested.txid, 25)) is true desc,
  (found.provider_txid = requested.provider_txid) is true desc;

-- src/ledger/transaction-repository.ts: pix-identify (batched)
-- $1 id, $2 endToEnd, $3 now, $4 eventId
with
  requested as (
    select
      *
    from
      unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::uuid[]) with ordinality as requested (id, end_to_end, now, event_id, ordinal)
  ),
  identified as (
    update pix_transactions t
    set
      end_to_end = requested.end_to_end,
      updated_at = requested.now
    from
      requested
    where
      t.id = any (array[requested.id])
      and t.operation in ('CHARGE', 'RECEIVED')
      and t.status = 'COMPLETED'
      and t.end_to_end is null
    returning
      requested.ordinal,
      requested.event_id,
      t.id,
      t.updated_at
  ),
  noted as (
    insert into
      pix_timeline (transaction_id, phase, at, event_id, note)
    select
      id,
      'SETTLED',
      updated_at,
      event_id,
      'IDENTIFIED'
    from
      identified
  )
select
  ordinal
from
  identified;

-- src/ledger/transaction-repository.ts: pix-received (batched)
-- $1 id, $2 userId, $3 amount, $4 pixKey, $5 endToEnd, $6 providerTxid, $7 now, $8 eventId,
-- $9 reportedAt, $10 note
with
  requested as (
    select
      requested.*,
      case
        when reported_at between event.received_at - interval '90 days' and event.received_at + interval '5 minutes' then reported_at
        else event.received_at
      end as at
    from
      unnest(
        $1::uuid[],
        $2::int[],
        $3::numeric[],
        $4::text[],
        $5::text[],
        $6::text[],
        $7::timestamptz[],
        $8::uuid[],
        $9::timestamptz[],
        $10::text[]
      ) with ordinality as requested (id, user_id, amount, pix_key, end_to_end, provider_txid, now, event_id, reported_at, note, ordinal)
      join lateral (
        select
          coalesce(
            (
              select
                received_at
              from
                webhook_events
              where
                id = any (array[requested.event_id])
            ),
            requested.now
          ) as received_at
      ) event on true
  ),
  received as (
    insert into
      pix_transactions (
        id,
        user_id,
        operation,
        status,
        phase,
        outcome,
        amount,
        pix_key,
        end_to_end,
        provider_txid,
        received_txid,
        created_at,
        updated_at,
        settled_at
      )
    select
      id,
      user_id,
      'RECEIVED',
      'COMPLETED',
      'SETTLED',
      'accepted',
      amount,
      pix_key,
      end_to_end,
      provider_txid,
      case
        when end_to_end is null then provider_txid
      end,
      at,
      now,
      now
    from
      requested
    order by
      end_to_end,
      provider_txid
    on conflict do nothing
    returning
      id,
      provider_txid,
      updated_at
  ),
  noted as (
    insert into
      pix_timeline (transaction_id, phase, at, event_id, provider_txid, note)
    select
      id,
      'SETTLED',
      updated_at,
      event_id,
      received.provider_txid,
      requested.note
    from
      received
      join requested using (id)
  )
select
  ordinal,
  id
from
  received
  join requested using (id);

-- src/ledger/transaction-repository.ts: pix-returns (batched)
-- $1 endToEnd, $2 returnId, $3 txid
select
  requested.ordinal,
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.qr_code as "qrCode",
  t.copy_paste as "copyPaste",
  t.pix_key as "pixKey",
  t.provider_txid as "providerTxid",
  t.created_at as "createdAt",
  t.expires_at as "expiresAt",
  t.reached_payee as "reachedPayee",
  null as owner,
  null as "paidBy",
  t.status = 'PROCESSING'
  and (
    coalesce(
      (
        select
          true
        from
          pix_timeline attempt
        where
          attempt.transaction_id = t.id
          and attempt.phase = 'PAYING'
          and attempt.note in ('after_unknown', 'found_after_loss')
          and attempt.http_status is distinct from 401
        limit
          1
      ),
      false
    )
    or (
      t.operation in ('SEND', 'REFUND_OUT')
      and exists (
        select
        from
          pix_pauses
        where
          lost_since <= t.created_at + interval '10 minutes'
          and (
            ended_at is null
            or ended_at >= t.created_at - interval '10 minutes'
          )
      )
    )
  ) as repeated,
  t.original_id as "originalId"
from
  unnest($1::text[], $2::text[], $3::text[]) with ordinality as requested (end_to_end, return_id, txid, ordinal)
  join pix_transactions t on t.id = any (
    array(
      select
        made.id
      from
        pix_transactions original
        join pix_transactions made on made.original_id = original.id
      where
        (
          original.end_to_end = requested.end_to_end
          or left(original.transaction_identification, 25) = left(requested.txid, 25)
        )
        and original.operation in ('CHARGE', 'RECEIVED')
        and made.operation = 'REFUND_OUT'
        and made.idempotency_key is not null
      union
      select
        made.id
      from
        pix_transactions made
      where
        made.end_to_end = requested.return_id
        and made.operation = 'REFUND_OUT'
        and made.idempotency_key is not null
    )
  )
order by
  requested.ordinal,
  t.created_at,
  t.id;

-- src/ledger/transaction-repository.ts: pix-statuses
-- $1 ids
select
  id,
  status
from
  pix_transactions
where
  id = any ($1::uuid[]);

-- src/onboarding/application-repository.ts: onboarding-lock-email
-- $1 email
select
  id
from
  users
where
  lower(email) = lower($1::text)
for update;

-- src/onboarding/application-repository.ts: onboarding-release-email
-- $1 userId, $2 registeredBefore
with
  stranger as (
    select
      id,
      user_id
    from
      onboarding_applications
    where
      user_id = $1::int
      and created_at < $2::timestamptz
      and status <> 'APPROVED'
      and not steps @> '[{"name": "electronic_validation_confirm", "status": "done"}]'
      and exists (
        select
        from
          users
        where
          id = $1::int
          and status = 'ACTIVE'
      )
      and not exists (
        select
        from
          banking_sessions
        where
          user_id = $1::int
      )
      and not exists (
        select
        from
          accounts
        where
          user_id = $1::int
      )
      and not exists (
        select
        from
          pix_transactions
        where
          user_id = $1::int
      )
    for update
  ),
  documents as (
    delete from onboarding_documents
    where
      application_id = any (
        array(
          select
            id
          from
            stranger
        )
      )
  ),
  applications as (
    delete from onboarding_applications
    where
      id = any (
        array(
          select
            id
          from
            stranger
        )
      )
  )
delete from users
where
  id = any (
    array(
      select
        user_id
      from
        stranger
    )
  )
returning
  id;

-- src/onboarding/document-repository.ts: document-chunk-read
-- $1 documentId, $2 place
select
  sealed_content as "sealedContent"
from
  onboarding_document_chunks
where
  document_id = $1::uuid
  and place = $2::int;

-- src/onboarding/document-repository.ts: document-chunk-store
-- $1 documentId, $2 place, $3 sealedContent
insert into
  onboarding_document_chunks (document_id, place, sealed_content)
values
  ($1::uuid, $2::int, $3::bytea);

-- src/onboarding/document-repository.ts: document-drop
-- $1 id
delete from onboarding_documents
where
  id = $1::uuid
  and status = 'receiving';

-- src/operator/audit-repository.ts: audit-count-events
select
  greatest(
    (
      select
        count(*)
      from
        (
          select
          from
            webhook_events
          limit
            100000
        ) as few
    ),
    (
      select
        reltuples::bigint
      from
        pg_class
      where
        oid = 'webhook_events'::regclass
    )
  )::float8 as rows;

-- src/operator/audit-repository.ts: audit-count-jobs
select
  count(*)::float8 as rows
from
  jobs
where
  status = 'running';

-- src/operator/audit-repository.ts: audit-count-transactions
select
  greatest(
    (
      select
        count(*)
      from
        (
          select
          from
            pix_transactions
          limit
            100000
        ) as few
    ),
    (
      select
        reltuples::bigint
      from
        pg_class
      where
        oid = 'pix_transactions'::regclass
    )
  )::float8 as rows;

-- src/operator/audit-repository.ts: audit-events
-- $1 after, $2 until, $3 limit
select
  id,
  received_at as at
from
  webhook_events
where
  id > $1::uuid
  and received_at <= $2::timestamptz
order by
  id
limit
  $3::int;

-- src/operator/audit-repository.ts: audit-jobs
-- $1 after, $2 until, $3 limit
select
  id,
  created_at as at
from
  jobs
where
  status = 'running'
  and id > $1::bigint
  and created_at <= $2::timestamptz
order by
  id
limit
  $3::int;

-- src/operator/audit-repository.ts: audit-leases-held
-- $1 ids, $2 auditedAt
select
  j.id,
  j.kind || ' leased until ' || to_char(j.leased_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as found
from
  jobs j
where
  j.id = any ($1::bigint[])
  and j.status = 'running'
  and j.leased_until < $2::timestamptz - interval '2 minutes'
order by
  j.id;

-- src/operator/audit-repository.ts: audit-parked-is-retried
-- $1 ids
select
  e.id,
  e.status || ' since ' || to_char(e.received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as found
from
  webhook_events e
where
  e.id = any ($1::uuid[])
  and not (
    exists (
      select
      from
        webhook_queue queue
      where
        queue.event_id = e.id
    )
    or exists (
      select
      from
        jobs j
      where
        j.unique_key = 'webhook:' || e.id
        and j.status in ('queued', 'running')
    )
  )
  and (
    e.status = 'parked'
    or (
      e.status = 'anomaly'
      and exists (
        select
        from
          webhook_waits w
        where
          w.event_id = e.id
      )
    )
  )
order by
  e.id;

-- src/operator/audit-repository.ts: audit-received-is-settled
-- $1 ids
select
  e.id,
  'received ' || to_char(e.received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as found
from
  webhook_events e
where
  e.id = any ($1::uuid[])
  and e.status = 'received'
  and not (
    exists (
      select
      from
        webhook_queue queue
      where
        queue.event_id = e.id
    )
    or exists (
      select
      from
        jobs j
      where
        j.unique_key = 'webhook:' || e.id
        and j.status in ('queued', 'running')
    )
  )
order by
  e.id;

-- src/operator/audit-repository.ts: audit-transactions
-- $1 after, $2 until, $3 limit
select
  id,
  created_at as at
from
  pix_transactions
where
  id > $1::uuid
  and created_at <= $2::timestamptz
order by
  id
limit
  $3::int;

-- src/operator/audit-repository.ts: audit-waiting-is-kept
-- $1 ids
select
  e.id,
  e.status || ' without a payload' as found
from
  webhook_events e
where
  e.id = any ($1::uuid[])
  and e.payload is null
  and (
    e.status in ('received', 'parked')
    or (
      e.status = 'anomaly'
      and exists (
        select
        from
          webhook_waits w
        where
          w.event_id = e.id
      )
    )
  )
order by
  e.id;

-- src/operator/dispute-list-repository.ts: ops-disputes
-- $1 limit
select
  d.transaction_id as "transactionId",
  d.user_id as "userId",
  d.status,
  d.may_be_done as "mayBeDone",
  d.requested_at as "requestedAt",
  d.withdrawal_requested_at as "withdrawalRequestedAt",
  t.end_to_end as "endToEnd",
  exists (
    select
    from
      banking_sessions s
    where
      s.user_id = d.user_id
      and s.status = 'ACTIVE'
  ) as "hasSession"
from
  pix_disputes d
  join pix_transactions t on t.id = d.transaction_id
where
  d.status in ('REQUESTED', 'OPEN')
order by
  d.requested_at,
  d.transaction_id
limit
  $1::int;

-- src/operator/inspection-repository.ts: backlog-read
-- $1 now, $2 overdueSince, $3 oldSince
with
  queue as (
    select
      kind,
      case
        when run_at <= $1::timestamptz then 'due'
        else 'later'
      end as state,
      count(*)::int as jobs,
      min(run_at) as oldest_at,
      count(*) filter (
        where
          last_error is not null
          and (
            unique_key like 'every:%'
            or attempts - (status = 'running')::int >= 5
          )
      )::int as failing
    from
      jobs
    where
      status = 'queued'
    group by
      1,
      2
    union all
    select
      kind,
      'running',
      count(*)::int,
      null,
      count(*) filter (
        where
          last_error is not null
          and (
            unique_key like 'every:%'
            or attempts - (status = 'running')::int >= 5
          )
      )::int
    from
      jobs
    where
      status = 'running'
    group by
      1
    union all
    select
      kind,
      'dead',
      count(*)::int,
      null,
      0
    from
      jobs
    where
      status = 'dead'
    group by
      1
    union all
    select
      'settle-webhook',
      case
        when due_at <= $1::timestamptz then 'due'
        else 'later'
      end,
      count(*)::int,
      min(due_at),
      count(*) filter (
        where
          greatest(failures, attempts) >= 5
      )::int
    from
      webhook_queue
    group by
      2
  )
select
  (
    select
      coalesce(
        jsonb_agg(jsonb_build_object('kind', kind, 'state', state, 'jobs', jobs, 'failing', failing)),
        '[]'::jsonb
      )
    from
      (
        select
          kind,
          state,
          sum(jobs)::int as jobs,
          sum(failing)::int as failing
        from
          queue
        group by
          kind,
          state
        order by
          kind,
          state
      ) queue
  ) as queue,
  (
    select
      min(oldest_at)
    from
      queue
    where
      state = 'due'
  ) as "oldestDueAt",
  (
    select
      count(*)::int
    from
      webhook_events
    where
      id = any (
        array(
          select
            event_id
          from
            webhook_queue
        )
      )
      and status = 'received'
  ) as received,
  flagged.parked,
  flagged.orphaned,
  flagged.anomaly,
  unended.unknown,
  unended.oldest_unknown_at as "oldestUnknownAt",
  unended.accepted,
  unended.oldest_accepted_at as "oldestAcceptedAt",
  unended.overdue,
  unended.held,
  differing.differences,
  differing.old as "oldDifferences",
  exists (
    select
    from
      pix_pauses
    where
      ended_at is null
  ) as "isPaused",
  blocking.unaccounted,
  blocking.unblocked,
  (
    select
      min(requested_at)
    from
      pix_disputes
    where
      status = 'REQUESTED'
  ) as "oldestRequestedDisputeAt",
  (
    select
      min(opened_at)
    from
      pix_disputes
    where
      status = 'OPEN'
  ) as "oldestOpenDisputeAt"
from
  (
    select
      count(*) filter (
        where
          attention = 'parked'
      )::int as parked,
      count(*) filter (
        where
          attention = 'orphaned'
      )::int as orphaned,
      count(*) filter (
        where
          attention = 'anomaly'
      )::int as anomaly
    from
      webhook_events
    where
      attention is not null
  ) flagged,
  (
    select
      count(*) filter (
        where
          phase = 'UNKNOWN'
      )::int as unknown,
      min(created_at) filter (
        where
          phase = 'UNKNOWN'
      ) as oldest_unknown_at,
      count(*) filter (
        where
          phase = 'ACCEPTED'
          and operation in ('SEND', 'REFUND_OUT')
      )::int as accepted,
      min(created_at) filter (
        where
          phase = 'ACCEPTED'
      ) as oldest_accepted_at,
      count(*) filter (
        where
          phase = 'PAYING'
          and t.updated_at <= $2::timestamptz
          and (
            t.claimed_until is null
            or t.claimed_until <= $1::timestamptz
          )
      )::int as overdue,
      count(*) filter (
        where
          (
            t.phase in ('RESERVED', 'RESOLVED')
            and t.updated_at <= $2::timestamptz
            and (
              t.claimed_until is null
              or t.claimed_until <= $1::timestamptz
            )
            and (
              t.operation in ('SEND', 'REFUND_OUT')
              and (
                exists (
                  select
                  from
                    pix_pauses
                  where
                    ended_at is null
                )
                or (
                  select
                    coalesce(
                      (
                        select
                          max(id)
                        from
                          pix_pauses
                        where
                          lost_since is not null
                      ),
                      0
                    ) > coalesce(a.loss_read, 0)
                    or a.blocked_by is not null
                    and exists (
                      select
                      from
                        reconciliation_differences line
                      where
                        line.user_id = a.user_id
                        and line.blocks is not null
                        and line.closed_at is null
                        and not exists (
                          select
                          from
                            pix_transactions t
                          where
                            t.end_to_end = line.subject
                            and t.operation in ('SEND', 'REFUND_OUT')
                        )
                    )
                  from
                    accounts a
                  where
                    a.user_id = t.user_id
                ) is true
              )
            )
          )
      )::int as held
    from
      (
        select
          transaction_id
        from
          pix_open
        where
          not has_code
      ) open
      join pix_transactions t on t.id = any (array[open.transaction_id])
    where
      t.status = 'PROCESSING'
      and t.qr_code is null
  ) unended,
  (
    select
      count(*)::int as differences,
      count(*) filter (
        where
          found_at < $3::timestamptz
      )::int as old
    from
      reconciliation_differences
    where
      closed_at is null
  ) differing,
  (
    select
      count(*)::int as unaccounted,
      count(*) filter (
        where
          a.id is not null
          and a.blocked_by is null
      )::int as unblocked
    from
      reconciliation_differences line
      left join accounts a using (user_id)
    where
      line.blocks is not null
      and line.closed_at is null
      and not exists (
        select
        from
          pix_transactions t
        where
          t.end_to_end = line.subject
          and t.operation in ('SEND', 'REFUND_OUT')
      )
  ) blocking;

-- src/operator/inspection-repository.ts: ops-inspect-database
select
  clock_timestamp() as now,
  current_setting('server_version') as version,
  pg_is_in_recovery()
  or current_setting('default_transaction_read_only') = 'on' as "isReadOnly",
  current_setting('fsync') as fsync,
  current_setting('full_page_writes') as "fullPageWrites",
  current_setting('synchronous_commit') as "synchronousCommit",
  current_setting('synchronous_standby_names') <> '' as "hasSynchronousStandby",
  (
    select
      count(*)::int
    from
      pg_stat_replication
  ) as standbys,
  coalesce(current_setting('ponte.app_events', true) = 'on', false) as "writesAppEvents",
  (
    select
      pg_has_role(relowner, 'member')
      or pg_has_role(datdba, 'member')
    from
      pg_class,
      pg_database
    where
      pg_class.oid = to_regclass('pix_timeline')
      and datname = current_database()
  ) as "ownsTables";

-- src/operator/inspection-repository.ts: ops-inspect-webhooks
-- $1 refusedSince, $2 unreadSince, $3 unreadFrom, $4 reasons
select
  (
    select
      received_at
    from
      webhook_events
    order by
      id desc
    limit
      1
  ) as "newestAt",
  (
    select
      count(*)::int
    from
      webhook_events
    where
      id >= $3::uuid
      and received_at >= $2::timestamptz
      and exists (
        select
        from
          jsonb_array_elements(results) as item
        where
          (
            status <> 'ignored'
            or item ->> 'result' = 'ignored'
          )
          and (
            status = 'ignored'
            and item ->> 'transactionId' is not null
            or item ->> 'reason' = any ($4::text[])
          )
      )
  ) as unread,
  (
    select
      coalesce(
        jsonb_agg(jsonb_build_object('reason', reason, 'refusals', refusals, 'lastAt', last_at)),
        '[]'::jsonb
      )
    from
      (
        select
          reason,
          sum(refusals)::int as refusals,
          max(last_at) as last_at
        from
          webhook_refusals
        where
          minute >= $1::timestamptz
        group by
          reason
        order by
          refusals desc,
          reason
      ) counted
  ) as refusals;

-- src/operator/job-admin-repository.ts: inspect-dead-jobs
-- $1 kind, $2 after, $3 limit
select
  id
from
  jobs
where
  status = 'dead'
  and (
    $1::text is null
    or kind = $1::text
  )
  and id > $2::bigint
order by
  id
limit
  $3::int;

-- src/operator/job-admin-repository.ts: inspect-job-stats
-- $1 now
select
  kind,
  status,
  count(*)::int as jobs,
  min(coalesce(finished_at, run_at)) as "oldestAt",
  (
    count(*) filter (
      where
        status = 'running'
        and leased_until < $1::timestamptz
    )
  )::int as lapsed
from
  jobs
group by
  kind,
  status
union all
select
  'settle-webhook',
  'queued',
  count(*)::int,
  min(due_at),
  0
from
  webhook_queue
having
  count(*) > 0
order by
  kind,
  status;

-- src/operator/job-admin-repository.ts: inspect-job-statuses
-- $1 ids
select
  id,
  status
from
  jobs
where
  id = any ($1::bigint[]);

-- src/operator/job-admin-repository.ts: jobs-retry
-- $1 ids, $2 now
with
  chosen as (
    select distinct
      on (coalesce(unique_key, id::text)) id
    from
      jobs as dead
    where
      status = 'dead'
      and id = any ($1::bigint[])
      and not exists (
        select
        from
          jobs as open
        where
          open.unique_key = dead.unique_key
          and open.status in ('queued', 'running')
      )
    order by
      coalesce(unique_key, id::text),
      id desc
  ),
  retried as (
    update jobs
    set
      status = 'queued',
      attempts = 0,
      run_at = $2::timestamptz,
      finished_at = null
    where
      id in (
        select
          id
        from
          chosen
      )
      and status = 'dead'
    returning
      id
  ),
  superseded as (
    delete from jobs
    where
      id = any ($1::bigint[])
      and status = 'dead'
      and unique_key is not null
      and id not in (
        select
          id
        from
          chosen
      )
    returning
      id
  )
select
  id,
  true as "isQueued",
  pg_notify ('ponte_jobs', '')::text as notified
from
  retried
union all
select
  id,
  false,
  null
from
  superseded;

-- src/operator/operator-action-repository.ts: ops-operator-actions-find
-- $1 operator, $2 target, $3 userId, $4 limit
select
  id,
  at,
  operator,
  command,
  target,
  reason,
  outcome,
  database_user as "databaseUser"
from
  operator_actions
where
  (
    $1::text is null
    or operator ilike $1::text
  )
  and (
    $2::text is null
    or target = $2::text
  )
  and (
    $3::int is null
    or target in (
      select
        'user:' || $3::int
      union all
      select
        'account:' || id
      from
        accounts
      where
        user_id = $3::int
      union all
      select
        'session:' || id
      from
        banking_sessions
      where
        user_id = $3::int
      union all
      select
        'pix:' || id
      from
        pix_transactions
      where
        user_id = $3::int
      union all
      select
        'app-event:' || id
      from
        app_events
      where
        user_id = $3::int
      union all
      select
        'difference:' || id
      from
        reconciliation_differences
      where
        user_id = $3::int
      union all
      select
        'event:' || l.event_id
      from
        pix_timeline l
        join pix_transactions t on t.id = l.transaction_id
      where
        t.user_id = $3::int
        and l.event_id is not null
    )
  )
order by
  id desc
limit
  $4::int;

-- src/operator/operator-action-repository.ts: ops-operator-actions-insert
-- $1 now, $2 operator, $3 command, $4 targets, $5 reason, $6 outcome
insert into
  operator_actions (at, operator, command, target, reason, outcome)
select
  $1::timestamptz,
  $2::text,
  $3::text,
  target,
  $5::text,
  $6::text
from
  unnest($4::text[]) as target;

-- src/operator/operator-action-repository.ts: ops-operator-actions-recent
-- $1 command, $2 target, $3 withinMs
select
  operator,
  at,
  database_user is not distinct from session_user as "isOwn"
from
  operator_actions
where
  target = $2::text
  and command = $1::text
  and at > clock_timestamp() - $3::int * interval '1 ms'
order by
  id desc;

-- src/operator/pix-invariants-repository.ts: audit-amount-positive
-- $1 ids
select
  t.id,
  t.amount::text as found
from
  pix_transactions t
where
  t.id = any ($1::uuid[])
  and t.amount <= 0
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-cause-stored
-- $1 ids
select
  t.id,
  'event ' || l.event_id as found
from
  pix_transactions t
  join pix_timeline l on l.transaction_id = t.id
where
  t.id = any ($1::uuid[])
  and l.event_id is not null
  and not exists (
    select
    from
      webhook_events e
    where
      e.id = l.event_id
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-completed-reported
-- $1 ids
select
  t.id,
  coalesce(ending.phase, 'no row') || coalesce(' ' || ending.provider_status, '') || coalesce(
    ' ' || case
      when ending.note like 'operator %' then 'operator'
      else ending.note
    end,
    ''
  ) as found
from
  pix_transactions t
  left join lateral (
    select
      l.id,
      l.at,
      l.phase,
      l.event_id,
      l.provider_status,
      l.note
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and l.phase in ('REJECTED', 'SETTLED')
    order by
      l.id
    limit
      1
  ) as ending on true
where
  t.id = any ($1::uuid[])
  and t.status = 'COMPLETED'
  and t.corrected_at is null
  and (
    ending.event_id is not null
    or ending.note = 'found_in_statement'
    or ending.note like 'operator %'
    or (
      ending.note = t.status
      and exists (
        select
        from
          pix_timeline l
        where
          l.transaction_id = t.id
          and not (l.phase in ('ANOMALY', 'SEEN'))
          and not (
            t.operation in ('CHARGE', 'REFUND_IN')
            and l.phase = 'SETTLED'
            and coalesce(l.note, '') = 'IDENTIFIED'
          )
          and not (
            l.phase = 'SETTLED'
            and coalesce(l.note, '') like 'REFUNDED %'
          )
          and l.phase = 'ACCEPTED'
          and l.provider_status = '2xx'
          and l.id < ending.id
      )
    )
  ) is not true
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-correction-noted
-- $1 ids
select
  t.id,
  coalesce(ending.phase, 'no row') || coalesce(' ' || ending.provider_status, '') || coalesce(
    ' ' || case
      when ending.note like 'operator %' then 'operator'
      else ending.note
    end,
    ''
  ) as found
from
  pix_transactions t
  left join lateral (
    select
      l.id,
      l.at,
      l.phase,
      l.event_id,
      l.provider_status,
      l.note
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and l.phase in ('REJECTED', 'SETTLED')
    order by
      l.id
    limit
      1
  ) as ending on true
where
  t.id = any ($1::uuid[])
  and (
    t.corrected_at is not null
    and (
      t.status = 'COMPLETED'
      and exists (
        select
        from
          pix_timeline l
        where
          l.transaction_id = t.id
          and not (l.phase in ('ANOMALY', 'SEEN'))
          and not (
            t.operation in ('CHARGE', 'REFUND_IN')
            and l.phase = 'SETTLED'
            and coalesce(l.note, '') = 'IDENTIFIED'
          )
          and not (
            l.phase = 'SETTLED'
            and coalesce(l.note, '') like 'REFUNDED %'
          )
          and (
            l.phase = 'SETTLED'
            and (
              l.note = 'corrected'
              or l.note like 'corrected %'
            )
          )
      )
      and (
        ending.event_id is null
        or ending.note is distinct from 'COMPLETED'
      )
    ) is not true
    or t.corrected_at is null
    and t.overruled_at is null
    and exists (
      select
      from
        pix_timeline l
      where
        l.transaction_id = t.id
        and not (l.phase in ('ANOMALY', 'SEEN'))
        and not (
          t.operation in ('CHARGE', 'REFUND_IN')
          and l.phase = 'SETTLED'
          and coalesce(l.note, '') = 'IDENTIFIED'
        )
        and not (
          l.phase = 'SETTLED'
          and coalesce(l.note, '') like 'REFUNDED %'
        )
        and (
          l.phase = 'SETTLED'
          and (
            l.note = 'corrected'
            or l.note like 'corrected %'
          )
        )
    )
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-doubt-kept
-- $1 ids
select
  t.id,
  coalesce(ending.phase, 'no row') || coalesce(' ' || ending.provider_status, '') || coalesce(
    ' ' || case
      when ending.note like 'operator %' then 'operator'
      else ending.note
    end,
    ''
  ) as found
from
  pix_transactions t
  left join lateral (
    select
      l.id,
      l.at,
      l.phase,
      l.event_id,
      l.provider_status,
      l.note
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and l.phase in ('REJECTED', 'SETTLED')
    order by
      l.id
    limit
      1
  ) as ending on true
where
  t.id = any ($1::uuid[])
  and t.status = 'FAILED'
  and t.overruled_at is null
  and (
    t.operation in ('SEND', 'REFUND_OUT')
    and t.idempotency_key is not null
  )
  and ending.event_id is null
  and ending.note like 'operator %' is not true
  and (
    t.operation = 'SEND'
    and (
      ending.note = 'reversed'
      and (
        t.failure_code = 'REVERSED'
        or t.corrected_at is not null
      )
      or ending.note = 'unexecuted'
      and (
        t.failure_code = 'EXPIRED_UNEXECUTED'
        or t.corrected_at is not null
      )
    )
    and ending.at >= (
      select
        max(l.at)
      from
        pix_timeline l
      where
        l.transaction_id = t.id
        and not (l.phase in ('ANOMALY', 'SEEN'))
        and not (
          t.operation in ('CHARGE', 'REFUND_IN')
          and l.phase = 'SETTLED'
          and coalesce(l.note, '') = 'IDENTIFIED'
        )
        and not (
          l.phase = 'SETTLED'
          and coalesce(l.note, '') like 'REFUNDED %'
        )
        and l.phase = 'PAYING'
        and l.id < ending.id
    ) + interval '36 hours'
  ) is not true
  and exists (
    select
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and l.phase = 'PAYING'
      and l.note in ('after_unknown', 'after_not_sent', 'after_login')
      and l.note = 'after_unknown'
      and l.http_status is distinct from 401
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-end-dated
-- $1 ids
select
  t.id,
  t.status || case
    when t.settled_at is null then ' without'
    else ' with'
  end || ' a time of settlement' as found
from
  pix_transactions t
where
  t.id = any ($1::uuid[])
  and (t.status = 'PROCESSING') <> (t.settled_at is null)
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-end-to-end-before-paying
-- $1 ids
select
  t.id,
  t.phase || ' without an end-to-end id' as found
from
  pix_transactions t
where
  t.id = any ($1::uuid[])
  and t.operation = 'SEND'
  and t.end_to_end is null
  and (
    t.phase in ('RESOLVED', 'PAYING', 'ACCEPTED', 'UNKNOWN')
    or exists (
      select
      from
        pix_timeline l
      where
        l.transaction_id = t.id
        and not (l.phase in ('ANOMALY', 'SEEN'))
        and not (
          t.operation in ('CHARGE', 'REFUND_IN')
          and l.phase = 'SETTLED'
          and coalesce(l.note, '') = 'IDENTIFIED'
        )
        and not (
          l.phase = 'SETTLED'
          and coalesce(l.note, '') like 'REFUNDED %'
        )
        and l.phase = 'PAYING'
    )
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-end-to-end-once
-- $1 ids
select
  t.id,
  t.operation || ' with the end-to-end id of ' || other.id as found
from
  pix_transactions t
  join pix_transactions other on other.end_to_end = t.end_to_end
  and other.operation = t.operation
  and other.id <> t.id
where
  t.id = any ($1::uuid[])
  and true
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-expired-after-grace
-- $1 ids
select
  t.id,
  coalesce('expired ' || t.expires_at::text, 'never expires') || ', ended ' || ending.at::text as found
from
  pix_transactions t
  left join lateral (
    select
      l.id,
      l.at,
      l.phase,
      l.event_id,
      l.provider_status,
      l.note
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and l.phase in ('REJECTED', 'SETTLED')
    order by
      l.id
    limit
      1
  ) as ending on true
where
  t.id = any ($1::uuid[])
  and ending.note = 'expired'
  and (
    t.operation = 'CHARGE'
    and (
      t.failure_code = 'CHARGE_EXPIRED'
      or t.corrected_at is not null
    )
    and ending.at >= t.expires_at + interval '1 day'
  ) is not true
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-failed-for-a-reason
-- $1 ids
select
  t.id,
  coalesce(ending.phase, 'no row') || coalesce(' ' || ending.provider_status, '') || coalesce(
    ' ' || case
      when ending.note like 'operator %' then 'operator'
      else ending.note
    end,
    ''
  ) as found
from
  pix_transactions t
  left join lateral (
    select
      l.id,
      l.at,
      l.phase,
      l.event_id,
      l.provider_status,
      l.note
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and l.phase in ('REJECTED', 'SETTLED')
    order by
      l.id
    limit
      1
  ) as ending on true
where
  t.id = any ($1::uuid[])
  and t.status = 'FAILED'
  and (
    (
      ending.event_id is not null
      or ending.note = 'found_in_statement'
      or ending.note like 'operator %'
      or (
        ending.note = t.status
        and exists (
          select
          from
            pix_timeline l
          where
            l.transaction_id = t.id
            and not (l.phase in ('ANOMALY', 'SEEN'))
            and not (
              t.operation in ('CHARGE', 'REFUND_IN')
              and l.phase = 'SETTLED'
              and coalesce(l.note, '') = 'IDENTIFIED'
            )
            and not (
              l.phase = 'SETTLED'
              and coalesce(l.note, '') like 'REFUNDED %'
            )
            and l.phase = 'ACCEPTED'
            and l.provider_status = '2xx'
            and l.id < ending.id
        )
      )
    )
    or (
      (
        ending.phase = 'REJECTED'
        and ending.provider_status in ('2xx', '4xx', '404', '429')
      )
      or (
        ending.note = 'not_sent'
        and ending.provider_status in ('401', 'timeout', 'connect', 'breaker_open', 'bulkhead_full', 'no_token', 'stopped')
      )
    )
    or (
      t.operation = 'SEND'
      and (
        ending.note = 'reversed'
        and (
          t.failure_code = 'REVERSED'
          or t.corrected_at is not null
        )
        or ending.note = 'unexecuted'
        and (
          t.failure_code = 'EXPIRED_UNEXECUTED'
          or t.corrected_at is not null
        )
      )
      and ending.at >= (
        select
          max(l.at)
        from
          pix_timeline l
        where
          l.transaction_id = t.id
          and not (l.phase in ('ANOMALY', 'SEEN'))
          and not (
            t.operation in ('CHARGE', 'REFUND_IN')
            and l.phase = 'SETTLED'
            and coalesce(l.note, '') = 'IDENTIFIED'
          )
          and not (
            l.phase = 'SETTLED'
            and coalesce(l.note, '') like 'REFUNDED %'
          )
          and l.phase = 'PAYING'
          and l.id < ending.id
      ) + interval '36 hours'
    )
    or ending.note in (
      'look_up_failed',
      'payee_changed',
      'code_changed',
      'abandoned',
      'limit_exceeded',
      'account_not_active',
      'closed',
      'expired',
      'owner_erased'
    )
  ) is not true
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-failed-not-received
-- $1 ids
select
  t.id,
  received.operation || ' ' || received.id as found
from
  pix_transactions t
  join pix_transactions received on received.end_to_end = t.end_to_end
  and received.user_id <> t.user_id
  and received.operation in ('CHARGE', 'RECEIVED')
  and received.status = 'COMPLETED'
where
  t.id = any ($1::uuid[])
  and t.operation = 'SEND'
  and t.status = 'FAILED'
  and t.outcome is distinct from 'not_sent'
  and not exists (
    select
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and l.phase = 'ANOMALY'
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-failed-reported
-- $1 ids
select
  t.id,
  coalesce(ending.phase, 'no row') || coalesce(' ' || ending.provider_status, '') || coalesce(
    ' ' || case
      when ending.note like 'operator %' then 'operator'
      else ending.note
    end,
    ''
  ) as found
from
  pix_transactions t
  left join lateral (
    select
      l.id,
      l.at,
      l.phase,
      l.event_id,
      l.provider_status,
      l.note
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and l.phase in ('REJECTED', 'SETTLED')
    order by
      l.id
    limit
      1
  ) as ending on true
where
  t.id = any ($1::uuid[])
  and t.status = 'FAILED'
  and t.overruled_at is null
  and (
    t.operation in ('SEND', 'REFUND_OUT')
    and t.idempotency_key is not null
  )
  and exists (
    select
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and l.phase = 'PAYING'
  )
  and (
    ending.note = 'found_in_statement'
    or (
      (
        ending.event_id is not null
        or ending.note = 'found_in_statement'
        or ending.note like 'operator %'
        or (
          ending.note = t.status
          and exists (
            select
            from
              pix_timeline l
            where
              l.transaction_id = t.id
              and not (l.phase in ('ANOMALY', 'SEEN'))
              and not (
                t.operation in ('CHARGE', 'REFUND_IN')
                and l.phase = 'SETTLED'
                and coalesce(l.note, '') = 'IDENTIFIED'
              )
              and not (
                l.phase = 'SETTLED'
                and coalesce(l.note, '') like 'REFUNDED %'
              )
              and l.phase = 'ACCEPTED'
              and l.provider_status = '2xx'
              and l.id < ending.id
          )
        )
      )
      or (
        (
          ending.phase = 'REJECTED'
          and ending.provider_status in ('2xx', '4xx', '404', '429')
        )
        or (
          ending.note = 'not_sent'
          and ending.provider_status in ('401', 'timeout', 'connect', 'breaker_open', 'bulkhead_full', 'no_token', 'stopped')
        )
      )
      or (
        t.operation = 'SEND'
        and (
          ending.note = 'reversed'
          and (
            t.failure_code = 'REVERSED'
            or t.corrected_at is not null
          )
          or ending.note = 'unexecuted'
          and (
            t.failure_code = 'EXPIRED_UNEXECUTED'
            or t.corrected_at is not null
          )
        )
        and ending.at >= (
          select
            max(l.at)
          from
            pix_timeline l
          where
            l.transaction_id = t.id
            and not (l.phase in ('ANOMALY', 'SEEN'))
            and not (
              t.operation in ('CHARGE', 'REFUND_IN')
              and l.phase = 'SETTLED'
              and coalesce(l.note, '') = 'IDENTIFIED'
            )
            and not (
              l.phase = 'SETTLED'
              and coalesce(l.note, '') like 'REFUNDED %'
            )
            and l.phase = 'PAYING'
            and l.id < ending.id
        ) + interval '36 hours'
      )
    ) is not true
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-final-is-final
-- $1 ids
select
  t.id,
  later.phase || ' after ' || ending.phase as found
from
  pix_transactions t
  join lateral (
    select
      l.id,
      l.at,
      l.phase,
      l.event_id,
      l.provider_status,
      l.note
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and l.phase in ('REJECTED', 'SETTLED')
    order by
      l.id
    limit
      1
  ) as ending on true
  join lateral (
    select
      l.phase
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and l.id > ending.id
      and not (
        l.phase = 'SETTLED'
        and (
          l.note = 'corrected'
          or l.note like 'corrected %'
        )
      )
      and not (
        l.phase = 'SETTLED'
        and l.note like 'overruled %'
      )
    order by
      l.id
    limit
      1
  ) as later on true
where
  t.id = any ($1::uuid[])
  and true
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-key-once
-- $1 ids
select
  t.id,
  t.operation || ' with the key of ' || other.id as found
from
  pix_transactions t
  join pix_transactions other on other.user_id = t.user_id
  and other.operation = t.operation
  and other.idempotency_key = t.idempotency_key
  and other.id <> t.id
where
  t.id = any ($1::uuid[])
  and true
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-money-back-shown
-- $1 ids
select
  t.id,
  'no refund of what came back' as found
from
  pix_transactions t
where
  t.id = any ($1::uuid[])
  and t.operation = 'SEND'
  and t.status = 'COMPLETED'
  and not exists (
    select
    from
      pix_transactions refund
    where
      refund.original_id = t.id
  )
  and (
    exists (
      select
      from
        pix_timeline l
      where
        l.transaction_id = t.id
        and l.phase = 'ANOMALY'
        and l.note = 'statement_reversed'
    )
    or exists (
      select
      from
        reconciliation_differences open
      where
        open.user_id = t.user_id
        and open.closed_at is null
        and open.transaction_id = t.id
        and open.reason = 'money_back'
    )
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-open-is-found
-- $1 ids
select
  t.id,
  t.phase || ' without a row in pix_open' as found
from
  pix_transactions t
where
  t.id = any ($1::uuid[])
  and t.status = 'PROCESSING'
  and (
    t.qr_code is null
    or t.expires_at is not null
  )
  and not exists (
    select
    from
      pix_open o
    where
      o.transaction_id = t.id
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-outcome-agrees
-- $1 ids
select
  t.id,
  t.status || ' with the outcome ' || coalesce(t.outcome, 'none') as found
from
  pix_transactions t
where
  t.id = any ($1::uuid[])
  and (
    t.operation in ('SEND', 'REFUND_OUT')
    and t.idempotency_key is not null
  )
  and (
    (
      t.status = 'COMPLETED'
      and t.outcome is distinct from 'accepted'
    )
    or (
      t.outcome = 'not_sent'
      and exists (
        select
        from
          pix_timeline l
        where
          l.transaction_id = t.id
          and not (l.phase in ('ANOMALY', 'SEEN'))
          and not (
            t.operation in ('CHARGE', 'REFUND_IN')
            and l.phase = 'SETTLED'
            and coalesce(l.note, '') = 'IDENTIFIED'
          )
          and not (
            l.phase = 'SETTLED'
            and coalesce(l.note, '') like 'REFUNDED %'
          )
          and l.phase = 'ACCEPTED'
      )
    )
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-overrule-noted
-- $1 ids
select
  t.id,
  t.status || coalesce(' ' || t.failure_code, '') as found
from
  pix_transactions t
where
  t.id = any ($1::uuid[])
  and (t.overruled_at is not null) <> exists (
    select
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and (
        l.phase = 'SETTLED'
        and l.note like 'overruled %'
      )
  )
  or t.overruled_at is not null
  and t.corrected_at is null
  and t.failure_code is distinct from 'OVERRULED'
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-paying-first
-- $1 ids
select
  t.id,
  heard.phase || ' without PAYING before it' as found
from
  pix_transactions t
  join lateral (
    select
      l.id,
      l.phase
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and (
        l.phase in ('ACCEPTED', 'UNKNOWN', 'REJECTED')
        or (
          l.phase = 'SETTLED'
          and t.status = 'COMPLETED'
        )
      )
    order by
      l.id
    limit
      1
  ) as heard on true
where
  t.id = any ($1::uuid[])
  and (
    t.operation in ('SEND', 'REFUND_OUT')
    and t.idempotency_key is not null
  )
  and not exists (
    select
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
      and (
        l.phase = 'PAYING'
        and l.id < heard.id
        or l.note = 'corrected found_after_loss'
        or t.operation = 'REFUND_OUT'
        and (
          l.phase = 'SETTLED'
          and (
            l.note = 'corrected'
            or l.note like 'corrected %'
          )
        )
      )
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-paying-once
-- $1 ids
select
  t.id,
  'PAYING ' || paying.times || ' times' as found
from
  pix_transactions t
  join lateral (
    select
      (
        select
          count(*)
        from
          pix_timeline l
        where
          l.transaction_id = t.id
          and not (l.phase in ('ANOMALY', 'SEEN'))
          and not (
            t.operation in ('CHARGE', 'REFUND_IN')
            and l.phase = 'SETTLED'
            and coalesce(l.note, '') = 'IDENTIFIED'
          )
          and not (
            l.phase = 'SETTLED'
            and coalesce(l.note, '') like 'REFUNDED %'
          )
          and l.phase = 'PAYING'
      ) - (
        select
          count(*)
        from
          pix_timeline l
        where
          l.transaction_id = t.id
          and l.phase = 'PAYING'
          and l.note in ('after_unknown', 'after_not_sent', 'after_login')
      ) as times
  ) as paying on paying.times > 1
where
  t.id = any ($1::uuid[])
  and true
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-provider-id-noted
-- $1 ids
select
  t.id,
  'an id that no row has' as found
from
  pix_transactions t
where
  t.id = any ($1::uuid[])
  and t.provider_txid is not null
  and not exists (
    select
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and l.provider_txid = t.provider_txid
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-refund-of-payment
-- $1 ids
select
  t.id,
  t.operation || coalesce(
    ' of ' || original.operation || ' ' || original.status || ' of user ' || original.user_id,
    ' of no transaction'
  ) as found
from
  pix_transactions t
  left join pix_transactions original on original.id = t.original_id
where
  t.id = any ($1::uuid[])
  and t.operation in ('REFUND_IN', 'REFUND_OUT')
  and (
    t.status <> 'FAILED'
    or t.outcome is distinct from 'not_sent'
  )
  and (
    original.user_id = t.user_id
    and original.status = 'COMPLETED'
    and (t.operation = 'REFUND_IN') = (original.operation = 'SEND')
    and not original.operation in ('REFUND_IN', 'REFUND_OUT')
  ) is not true
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-refunds-within-amount
-- $1 ids
select
  t.id,
  'refunds of ' || refunds.total || ' and open ' || refunds.open || ', counted ' || coalesce(t.refunded_amount, 0) || ' and open ' || coalesce(t.refunding_amount, 0) || ' of ' || t.amount as found
from
  pix_transactions t
  join lateral (
    select
      coalesce(
        sum(refund.amount) filter (
          where
            refund.status = 'COMPLETED'
        ),
        0
      ) as total,
      coalesce(
        sum(refund.amount) filter (
          where
            refund.status = 'PROCESSING'
        ),
        0
      ) as open
    from
      pix_transactions refund
    where
      refund.original_id = t.id
  ) as refunds on true
where
  t.id = any ($1::uuid[])
  and (
    refunds.total + refunds.open > t.amount
    or refunds.total <> coalesce(t.refunded_amount, 0)
    or refunds.open <> coalesce(t.refunding_amount, 0)
  )
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-status-and-phase
-- $1 ids
select
  t.id,
  t.status || ' in ' || t.phase as found
from
  pix_transactions t
where
  t.id = any ($1::uuid[])
  and (
    (
      t.status = 'PROCESSING'
      and t.phase in ('RESERVED', 'RESOLVED', 'PAYING', 'ACCEPTED', 'UNKNOWN')
    )
    or (
      t.status = 'COMPLETED'
      and t.phase in ('SETTLED')
    )
    or (
      t.status = 'FAILED'
      and t.phase in ('REJECTED', 'SETTLED')
    )
  ) is not true
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-timeline-agrees
-- $1 ids
select
  t.id,
  t.phase || ' after ' || coalesce(last.phase, 'no move') as found
from
  pix_transactions t
  left join lateral (
    select
      l.phase
    from
      pix_timeline l
    where
      l.transaction_id = t.id
      and not (l.phase in ('ANOMALY', 'SEEN'))
      and not (
        t.operation in ('CHARGE', 'REFUND_IN')
        and l.phase = 'SETTLED'
        and coalesce(l.note, '') = 'IDENTIFIED'
      )
      and not (
        l.phase = 'SETTLED'
        and coalesce(l.note, '') like 'REFUNDED %'
      )
    order by
      l.id desc
    limit
      1
  ) as last on true
where
  t.id = any ($1::uuid[])
  and coalesce(last.phase, 'RESERVED') <> t.phase
order by
  t.id;

-- src/operator/pix-invariants-repository.ts: audit-timeline-begins
-- $1 ids
select
  t.id,
  coalesce('begins with ' || first.phase, 'no timeline') as found
from
  pix_transactions t
  left join lateral (
    select
      l.phase
    from
      pix_timeline l
    where
      l.transaction_id = t.id
    order by
      l.id
    limit
      1
  ) as first on true
where
  t.id = any ($1::uuid[])
  and t.operation in ('RECEIVED', 'REFUND_IN', 'REFUND_OUT')
  and t.idempotency_key is null
  and first.phase is distinct from 'SETTLED'
order by
  t.id;

-- src/operator/pix-repository.ts: inspect-pix
-- $1 userId, $2 status, $3 phase, $4 createdUntil, $5 createdSince, $6 firstId, $7 amount,
-- $8 limit
select
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.provider_txid as "providerTxid",
  t.expires_at as "expiresAt",
  t.original_id as "originalId",
  t.refunded_amount as "refundedAmount",
  t.refunding_amount as "refundingAmount",
  t.claimed_until as "claimedUntil",
  t.created_at as "createdAt",
  t.updated_at as "updatedAt",
  t.settled_at as "settledAt",
  t.held_at as "heldAt",
  t.corrected_at as "correctedAt",
  t.overruled_at as "overruledAt",
  t.paid_again_by as "paidAgainBy",
  t.reached_payee as "reachedPayee"
from
  pix_transactions t
where
  (
    $1::int is null
    or t.user_id = $1::int
  )
  and (
    $2::text is null
    or t.status = $2::text
  )
  and (
    $3::text is null
    or t.phase = $3::text
  )
  and (
    $4::timestamptz is null
    or t.created_at <= $4::timestamptz
  )
  and (
    $5::timestamptz is null
    or t.created_at >= $5::timestamptz
  )
  and (
    $6::uuid is null
    or t.id >= $6::uuid
  )
  and (
    $7::numeric is null
    or t.amount = $7::numeric
  )
order by
  t.id desc
limit
  $8::int;

-- src/operator/pix-repository.ts: inspect-pix-corrected
-- $1 userId, $2 status, $3 phase, $4 createdUntil, $5 createdSince, $6 firstId, $7 amount,
-- $8 limit
select
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.provider_txid as "providerTxid",
  t.expires_at as "expiresAt",
  t.original_id as "originalId",
  t.refunded_amount as "refundedAmount",
  t.refunding_amount as "refundingAmount",
  t.claimed_until as "claimedUntil",
  t.created_at as "createdAt",
  t.updated_at as "updatedAt",
  t.settled_at as "settledAt",
  t.held_at as "heldAt",
  t.corrected_at as "correctedAt",
  t.overruled_at as "overruledAt",
  t.paid_again_by as "paidAgainBy",
  t.reached_payee as "reachedPayee"
from
  pix_transactions t
where
  t.corrected_at is not null
  and (
    $1::int is null
    or t.user_id = $1::int
  )
  and (
    $2::text is null
    or t.status = $2::text
  )
  and (
    $3::text is null
    or t.phase = $3::text
  )
  and (
    $4::timestamptz is null
    or t.created_at <= $4::timestamptz
  )
  and (
    $5::timestamptz is null
    or t.created_at >= $5::timestamptz
  )
  and (
    $6::uuid is null
    or t.id >= $6::uuid
  )
  and (
    $7::numeric is null
    or t.amount = $7::numeric
  )
order by
  t.corrected_at desc
limit
  $8::int;

-- src/operator/pix-repository.ts: inspect-pix-corrected-count
-- $1 since
select
  count(*)::int as corrected
from
  pix_transactions
where
  corrected_at >= $1::timestamptz;

-- src/operator/pix-repository.ts: inspect-pix-one
-- $1 id, $2 now
select
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.provider_txid as "providerTxid",
  t.expires_at as "expiresAt",
  t.original_id as "originalId",
  t.refunded_amount as "refundedAmount",
  t.refunding_amount as "refundingAmount",
  t.claimed_until as "claimedUntil",
  t.created_at as "createdAt",
  t.updated_at as "updatedAt",
  t.settled_at as "settledAt",
  t.held_at as "heldAt",
  t.corrected_at as "correctedAt",
  t.overruled_at as "overruledAt",
  t.paid_again_by as "paidAgainBy",
  t.reached_payee as "reachedPayee",
  t.payee,
  (
    t.operation in ('SEND', 'REFUND_OUT')
    and (
      exists (
        select
        from
          pix_pauses
        where
          ended_at is null
      )
      or (
        select
          coalesce(
            (
              select
                max(id)
              from
                pix_pauses
              where
                lost_since is not null
            ),
            0
          ) > coalesce(a.loss_read, 0)
          or a.blocked_by is not null
          and exists (
            select
            from
              reconciliation_differences line
            where
              line.user_id = a.user_id
              and line.blocks is not null
              and line.closed_at is null
              and not exists (
                select
                from
                  pix_transactions t
                where
                  t.end_to_end = line.subject
                  and t.operation in ('SEND', 'REFUND_OUT')
              )
          )
        from
          accounts a
        where
          a.user_id = t.user_id
      ) is true
    )
  ) as "mayBeLost",
  exists (
    select
    from
      banking_sessions s
    where
      s.user_id = t.user_id
      and s.status = 'ACTIVE'
      and (
        s.token_expires_at is null
        or s.token_expires_at > $2::timestamptz
      )
  ) as "hasSession"
from
  pix_transactions t
where
  t.id = $1::uuid;

-- src/operator/pix-repository.ts: inspect-pix-references
-- $1 id, $2 reference
select
  t.id,
  t.operation,
  t.user_id as "userId"
from
  pix_transactions t
where
  t.id = any (
    array(
      select
        $1::uuid
      where
        $1::uuid is not null
      union
      select
        id
      from
        pix_transactions
      where
        end_to_end = $2::text
      union
      select
        id
      from
        pix_transactions
      where
        left(transaction_identification, 25) = left($2::text, 25)
        and length($2::text) >= 25
        and transaction_identification is not null
        and starts_with(transaction_identification, $2::text)
      union
      select
        id
      from
        pix_transactions
      where
        idempotency_key = $2::text
      union
      select
        transaction_id
      from
        pix_timeline
      where
        provider_txid = $2::text
    )
  )
order by
  t.id
limit
  20;

-- src/operator/pix-repository.ts: inspect-pix-refunds
-- $1 transactionId, $2 limit
select
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.provider_txid as "providerTxid",
  t.expires_at as "expiresAt",
  t.original_id as "originalId",
  t.refunded_amount as "refundedAmount",
  t.refunding_amount as "refundingAmount",
  t.claimed_until as "claimedUntil",
  t.created_at as "createdAt",
  t.updated_at as "updatedAt",
  t.settled_at as "settledAt",
  t.held_at as "heldAt",
  t.corrected_at as "correctedAt",
  t.overruled_at as "overruledAt",
  t.paid_again_by as "paidAgainBy",
  t.reached_payee as "reachedPayee"
from
  pix_transactions t
where
  t.original_id = $1::uuid
order by
  t.id
limit
  $2::int;

-- src/operator/pix-repository.ts: inspect-pix-stuck
-- $1 userId, $2 status, $3 phase, $4 createdUntil, $5 createdSince, $6 firstId, $7 amount,
-- $8 limit, $9 payingSince, $10 now, $11 acceptedSince
select
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.status,
  t.phase,
  t.outcome,
  t.failure_code as "failureCode",
  t.amount,
  t.end_to_end as "endToEnd",
  t.transaction_identification as "transactionIdentification",
  t.provider_txid as "providerTxid",
  t.expires_at as "expiresAt",
  t.original_id as "originalId",
  t.refunded_amount as "refundedAmount",
  t.refunding_amount as "refundingAmount",
  t.claimed_until as "claimedUntil",
  t.created_at as "createdAt",
  t.updated_at as "updatedAt",
  t.settled_at as "settledAt",
  t.held_at as "heldAt",
  t.corrected_at as "correctedAt",
  t.overruled_at as "overruledAt",
  t.paid_again_by as "paidAgainBy",
  t.reached_payee as "reachedPayee"
from
  (
    select
      transaction_id
    from
      pix_open
    where
      not has_code
  ) open
  join pix_transactions t on t.id = any (array[open.transaction_id])
where
  t.status = 'PROCESSING'
  and t.qr_code is null
  and t.operation in ('SEND', 'REFUND_OUT')
  and (
    $1::int is null
    or t.user_id = $1::int
  )
  and (
    $2::text is null
    or t.status = $2::text
  )
  and (
    $3::text is null
    or t.phase = $3::text
  )
  and (
    $4::timestamptz is null
    or t.created_at <= $4::timestamptz
  )
  and (
    $5::timestamptz is null
    or t.created_at >= $5::timestamptz
  )
  and (
    $6::uuid is null
    or t.id >= $6::uuid
  )
  and (
    $7::numeric is null
    or t.amount = $7::numeric
  )
  and (
    t.phase = 'UNKNOWN'
    or (
      t.phase = 'PAYING'
      and t.updated_at <= $9::timestamptz
      and (
        t.claimed_until is null
        or t.claimed_until <= $10::timestamptz
      )
    )
    or (
      t.phase = 'ACCEPTED'
      and t.updated_at <= $11::timestamptz
    )
    or (
      t.phase in ('RESERVED', 'RESOLVED')
      and t.updated_at <= $9::timestamptz
      and (
        t.claimed_until is null
        or t.claimed_until <= $10::timestamptz
      )
      and (
        t.operation in ('SEND', 'REFUND_OUT')
        and (
          exists (
            select
            from
              pix_pauses
            where
              ended_at is null
          )
          or (
            select
              coalesce(
                (
                  select
                    max(id)
                  from
                    pix_pauses
                  where
                    lost_since is not null
                ),
                0
              ) > coalesce(a.loss_read, 0)
              or a.blocked_by is not null
              and exists (
                select
                from
                  reconciliation_differences line
                where
                  line.user_id = a.user_id
                  and line.blocks is not null
                  and line.closed_at is null
                  and not exists (
                    select
                    from
                      pix_transactions t
                    where
                      t.end_to_end = line.subject
                      and t.operation in ('SEND', 'REFUND_OUT')
                  )
              )
            from
              accounts a
            where
              a.user_id = t.user_id
          ) is true
        )
      )
    )
  )
order by
  t.id
limit
  $8::int;

-- src/operator/pix-repository.ts: inspect-pix-timeline
-- $1 transactionId, $2 limit
select
  step.at,
  step.phase,
  step.attempt,
  step.provider_status as "providerStatus",
  step.http_status as "httpStatus",
  step.provider_code as "providerCode",
  step.event_id as "eventId",
  step.note
from
  pix_transactions t,
  lateral (
    select
      0 as id,
      0 as place,
      'RESERVED' as phase,
      t.created_at as at,
      null::int as attempt,
      null::text as provider_status,
      null::int as http_status,
      null::text as provider_code,
      null::uuid as event_id,
      null::text as note,
      null::text as provider_txid
    where
      t.idempotency_key is not null
      and not exists (
        select
        from
          pix_timeline stored
        where
          stored.transaction_id = t.id
          and stored.phase = 'RESERVED'
          and stored.provider_status is null
      )
    union all
    select
      id,
      0,
      'RESOLVED',
      at,
      null::int as attempt,
      null::text as provider_status,
      null::int as http_status,
      null::text as provider_code,
      null::uuid as event_id,
      null::text as note,
      null::text as provider_txid
    from
      pix_timeline
    where
      transaction_id = t.id
      and phase = 'PAYING'
      and attempt = 1
      and note is null
      and t.operation = 'SEND'
      and not exists (
        select
        from
          pix_timeline stored
        where
          stored.transaction_id = t.id
          and stored.phase = 'RESOLVED'
          and stored.provider_status is null
      )
    union all
    select
      id,
      1,
      phase,
      at,
      attempt,
      provider_status,
      http_status,
      provider_code,
      event_id,
      note,
      provider_txid
    from
      pix_timeline
    where
      transaction_id = t.id
  ) as step
where
  t.id = $1::uuid
order by
  step.id,
  step.place
limit
  $2::int;

-- src/operator/pix-resolve-list-repository.ts: pix-for-the-bank
-- $1 attemptedUntil, $2 after, $3 limit
select
  t.id,
  t.user_id as "userId",
  t.operation,
  t.idempotency_key as "idempotencyKey",
  t.phase,
  t.amount,
  t.end_to_end as "endToEnd",
  t.created_at as "createdAt",
  a.agency,
  a.account_number as "accountNumber",
  last.attempted_at as "attemptedAt"
from
  (
    select
      transaction_id
    from
      pix_open
    where
      not has_code
  ) open
  join pix_transactions t on t.id = any (array[open.transaction_id])
  join lateral (
    select
      coalesce(max(at), t.created_at) as attempted_at
    from
      pix_timeline
    where
      transaction_id = t.id
      and phase = 'PAYING'
  ) last on true
  left join accounts a on a.user_id = t.user_id
where
  t.status = 'PROCESSING'
  and t.qr_code is null
  and t.operation in ('SEND', 'REFUND_OUT')
  and t.phase in ('ACCEPTED', 'UNKNOWN')
  and t.id > $2::uuid
  and last.attempted_at <= $1::timestamptz
order by
  t.id
limit
  $3::int;

-- src/operator/pix-resolve-list-repository.ts: pix-resolve-named
-- $1 ids, $2 endToEnds
select
  id,
  end_to_end as "endToEnd",
  status
from
  pix_transactions
where
  id = any ($1::uuid[])
union
select
  id,
  end_to_end,
  status
from
  pix_transactions
where
  end_to_end = any ($2::text[])
  and operation in ('SEND', 'REFUND_OUT');

-- src/operator/reconcile-repository.ts: ops-reconcile-accept
-- $1 ids, $2 now
with
  accepted as (
    update reconciliation_differences
    set
      closed_at = $2::timestamptz,
      closed_as = 'ACCEPTED'
    where
      id = any ($1::bigint[])
      and closed_at is null
    returning
      id,
      user_id
  ),
  unblocked as (
    update accounts a
    set
      blocked_by = (
        select
          max(line.id)
        from
          reconciliation_differences line
        where
          line.user_id = a.user_id
          and line.blocks is not null
          and line.closed_at is null
          and line.id not in (
            select
              id
            from
              accepted
          )
      )
    where
      a.user_id in (
        select
          user_id
        from
          accepted
      )
      and a.blocked_by is not null
  )
select
  id::text as id
from
  accepted;

-- src/operator/reconcile-repository.ts: ops-reconcile-users
-- $1 ids
select distinct
  user_id as "userId"
from
  reconciliation_differences
where
  id = any ($1::bigint[]);

-- src/operator/subject-repository.ts: ops-subject-erase-account
-- $1 userId, $2 now
update accounts
set
  status = 'BLOCKED',
  agency = null,
  account_number = null,
  document = null,
  pix_keys = null,
  pix_keys_version = (
    select
      coalesce(max(pix_keys_version), 0) + 1
    from
      accounts
  ),
  provider_company_id = null,
  provider_client_token = null,
  balance = null,
  balance_read_at = null,
  updated_at = $2::timestamptz
where
  user_id = $1::int;

-- src/operator/subject-repository.ts: ops-subject-erase-addresses
-- $1 userId
delete from login_addresses
where
  user_id = $1::int;

-- src/operator/subject-repository.ts: ops-subject-erase-applications
-- $1 userId
delete from onboarding_applications
where
  user_id = $1::int;

-- src/operator/subject-repository.ts: ops-subject-erase-count
-- $1 userId
select
  count(*)::int as transactions
from
  pix_transactions
where
  user_id = $1::int;

-- src/operator/subject-repository.ts: ops-subject-erase-disputes
-- $1 userId
update pix_disputes
set
  details = null
where
  user_id = $1::int;

-- src/operator/subject-repository.ts: ops-subject-erase-documents
-- $1 userId
delete from onboarding_documents
where
  application_id in (
    select
      id
    from
      onboarding_applications
    where
      user_id = $1::int
  )
returning
  id;

-- src/operator/subject-repository.ts: ops-subject-erase-events
-- $1 userId, $2 eventIds
update webhook_events
set
  payload = null
where
  status in ('processed', 'ignored')
  and payload is not null
  and (
    id = any ($2::uuid[])
    or id in (
      select
        l.event_id
      from
        pix_timeline l
        join pix_transactions t on t.id = l.transaction_id
      where
        t.user_id = $1::int
    )
  )
returning
  id;

-- src/operator/subject-repository.ts: ops-subject-erase-kept
-- $1 userId, $2 eventIds
select
  id
from
  webhook_events
where
  payload is not null
  and (
    id = any ($2::uuid[])
    or id in (
      select
        l.event_id
      from
        pix_timeline l
        join pix_transactions t on t.id = l.transaction_id
      where
        t.user_id = $1::int
    )
  )
order by
  received_at,
  id;

-- src/operator/subject-repository.ts: ops-subject-erase-person
-- $1 userId, $2 email, $3 now
update users
set
  name = 'erased',
  email = $2::text,
  document = null,
  phone = null,
  password_hash = 'erased',
  status = 'DISABLED',
  updated_at = $3::timestamptz
where
  id = $1::int;

-- src/operator/subject-repository.ts: ops-subject-erase-security
-- $1 userId, $2 identities
update security_events
set
  identity = 'erased',
  address = null
where
  user_id = $1::int
  or identity = any ($2::text[]);

-- src/operator/subject-repository.ts: ops-subject-export
-- $1 userId
select
  to_jsonb(person) as person,
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          id,
          provider,
          agency,
          account_number,
          document,
          status,
          provider_company_id,
          pix_keys,
          balance::text,
          balance_read_at,
          created_at,
          updated_at
        from
          accounts
        where
          user_id = $1::int
      ) found
  ) as "accounts",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          day::text,
          day_next::text,
          day_next_at,
          night::text,
          night_next::text,
          night_next_at,
          own_day::text,
          own_day_next::text,
          own_day_next_at,
          own_night::text,
          own_night_next::text,
          own_night_next_at,
          night_hour,
          night_hour_next,
          night_hour_next_at,
          own_by_payee,
          own_earlier
        from
          pix_limits
        where
          user_id = $1::int
      ) found
  ) as "limits",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          id,
          status,
          token_expires_at,
          created_at,
          renewed_at,
          ended_at
        from
          banking_sessions
        where
          user_id = $1::int
        order by
          created_at,
          id
      ) found
  ) as "sessions",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          last_login_at
        from
          login_addresses
        where
          user_id = $1::int
        order by
          last_login_at
      ) found
  ) as "logins",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          at,
          kind,
          times
        from
          security_events
        where
          user_id = $1::int
        order by
          id
      ) found
  ) as "securityEvents",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          id,
          operation,
          idempotency_key,
          status,
          phase,
          outcome,
          failure_code,
          amount::text,
          pix_key,
          payee,
          payee_class,
          description,
          end_to_end,
          transaction_identification,
          provider_txid,
          qr_code,
          copy_paste,
          created_at,
          updated_at,
          settled_at,
          held_at
        from
          pix_transactions
        where
          user_id = $1::int
        order by
          created_at,
          id
      ) found
  ) as "transactions",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          t.id as transaction_id,
          step.phase,
          step.at,
          step.attempt,
          step.provider_status,
          step.event_id,
          step.provider_txid,
          step.note
        from
          pix_transactions t,
          lateral (
            select
              0 as id,
              0 as place,
              'RESERVED' as phase,
              t.created_at as at,
              null::int as attempt,
              null::text as provider_status,
              null::int as http_status,
              null::text as provider_code,
              null::uuid as event_id,
              null::text as note,
              null::text as provider_txid
            where
              t.idempotency_key is not null
              and not exists (
                select
                from
                  pix_timeline stored
                where
                  stored.transaction_id = t.id
                  and stored.phase = 'RESERVED'
                  and stored.provider_status is null
              )
            union all
            select
              id,
              0,
              'RESOLVED',
              at,
              null::int as attempt,
              null::text as provider_status,
              null::int as http_status,
              null::text as provider_code,
              null::uuid as event_id,
              null::text as note,
              null::text as provider_txid
            from
              pix_timeline
            where
              transaction_id = t.id
              and phase = 'PAYING'
              and attempt = 1
              and note is null
              and t.operation = 'SEND'
              and not exists (
                select
                from
                  pix_timeline stored
                where
                  stored.transaction_id = t.id
                  and stored.phase = 'RESOLVED'
                  and stored.provider_status is null
              )
            union all
            select
              id,
              1,
              phase,
              at,
              attempt,
              provider_status,
              http_status,
              provider_code,
              event_id,
              note,
              provider_txid
            from
              pix_timeline
            where
              transaction_id = t.id
          ) as step
        where
          t.user_id = $1::int
        order by
          t.created_at,
          t.id,
          step.id,
          step.place
      ) found
  ) as "timeline",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          transaction_id,
          status,
          situation,
          encode(details, 'base64') as details,
          requested_at,
          opened_at,
          ended_at
        from
          pix_disputes
        where
          user_id = $1::int
        order by
          requested_at
      ) found
  ) as "disputes",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          id,
          status,
          received_at,
          processed_at,
          payload is not null as has_payload
        from
          webhook_events
        where
          id in (
            select
              l.event_id
            from
              pix_timeline l
              join pix_transactions t on t.id = l.transaction_id
            where
              t.user_id = $1::int
          )
        order by
          received_at,
          id
      ) found
  ) as "events",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          day::text,
          state,
          reason,
          tried_at,
          read_at
        from
          reconciliations
        where
          user_id = $1::int
        order by
          day
      ) found
  ) as "reconciliations",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          day::text,
          kind,
          reason,
          transaction_id,
          end_to_end,
          amount::text,
          stored_amount::text,
          found_at,
          closed_at,
          closed_as,
          blocks
        from
          reconciliation_differences
        where
          user_id = $1::int
        order by
          id
      ) found
  ) as "differences",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          id,
          type,
          status,
          at,
          delivered_at
        from
          app_events
        where
          user_id = $1::int
        order by
          at,
          id
      ) found
  ) as "appEvents",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          person_type,
          status,
          kyc_status,
          steps,
          address,
          proposal,
          validation,
          validation_failures,
          validation_locked_until,
          pessoa_fisica_id,
          agency,
          account_number,
          conta_bancaria_criada,
          created_at,
          updated_at
        from
          onboarding_applications
        where
          user_id = $1::int
      ) found
  ) as "applications",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          d.status,
          d.tipo_documento,
          d.content_type,
          d.size_bytes,
          d.created_at,
          d.stored_at,
          d.forwarded_at
        from
          onboarding_documents d
          join onboarding_applications a on a.id = d.application_id
        where
          a.user_id = $1::int
        order by
          d.created_at,
          d.id
      ) found
  ) as "documents",
  (
    select
      coalesce(jsonb_agg(to_jsonb(found)), '[]')
    from
      (
        select
          at,
          command,
          reason,
          outcome
        from
          operator_actions
        where
          target in (
            select
              'user:' || $1::int
            union all
            select
              'account:' || id
            from
              accounts
            where
              user_id = $1::int
            union all
            select
              'session:' || id
            from
              banking_sessions
            where
              user_id = $1::int
            union all
            select
              'pix:' || id
            from
              pix_transactions
            where
              user_id = $1::int
            union all
            select
              'app-event:' || id
            from
              app_events
            where
              user_id = $1::int
            union all
            select
              'difference:' || id
            from
              reconciliation_differences
            where
              user_id = $1::int
            union all
            select
              'event:' || l.event_id
            from
              pix_timeline l
              join pix_transactions t on t.id = l.transaction_id
            where
              t.user_id = $1::int
              and l.event_id is not null
          )
        order by
          id
      ) found
  ) as "operatorActions"
from
  (
    select
      id,
      name,
      email,
      document,
      person_type,
      phone,
      status,
      created_at,
      updated_at
    from
      users
    where
      id = $1::int
  ) person;

-- src/operator/subject-repository.ts: ops-subject-identify
-- $1 userId
select
  u.name,
  u.email,
  u.document,
  u.phone,
  a.document as "accountDocument",
  coalesce(a.pix_keys, '{}') as "pixKeys"
from
  users u
  left join accounts a on a.user_id = u.id
where
  u.id = $1::int;

-- src/operator/subject-repository.ts: ops-subject-lock
-- $1 userId
select
  id
from
  users
where
  id = $1::int
for update;

-- src/operator/subject-repository.ts: ops-subject-open
-- $1 userId
select
  id,
  operation = 'CHARGE'
  and phase = 'ACCEPTED'
  and expires_at is null as "isStaticCode"
from
  pix_transactions
where
  user_id = $1::int
  and status = 'PROCESSING'
order by
  created_at,
  id;

-- src/operator/subject-repository.ts: ops-subject-open-disputes
-- $1 userId
select
  transaction_id as id
from
  pix_disputes
where
  user_id = $1::int
  and status in ('REQUESTED', 'OPEN')
order by
  requested_at,
  transaction_id;

-- src/operator/subject-search-repository.ts: ops-subject-events
-- $1 receivedAfter, $2 idAfter, $3 values
with
  page as (
    select
      id,
      received_at,
      payload
    from
      webhook_events
    where
      payload is not null
      and (received_at, id) > ($1::timestamptz, $2::uuid)
    order by
      received_at,
      id
    limit
      2000
  )
select
  id,
  received_at as "receivedAt",
  exists (
    select
    from
      unnest($3::bytea[]) as named
    where
      position(named in payload) > 0
  ) as "isNamed"
from
  page
order by
  received_at,
  id;

-- src/operator/subject-search-repository.ts: ops-subject-paid-by-others
-- $1 after, $2 values, $3 words, $4 userId
with
  page as (
    select
      id,
      user_id,
      pix_key,
      description
    from
      pix_transactions
    where
      id > $1::uuid
    order by
      id
    limit
      10000
  )
select
  max(id::text) as last,
  count(*)::int as rows,
  coalesce(
    array_agg(id::text) filter (
      where
        pix_key = any ($2::text[])
        and user_id <> $4::int
    ),
    '{}'
  ) as named,
  count(*) filter (
    where
      user_id <> $4::int
      and exists (
        select
        from
          unnest($3::text[]) as word
        where
          position(
            regexp_replace(regexp_replace(normalize(lower(word), NFKD), '[\u0300-\u036f]', '', 'g'), '\s+', ' ', 'g') in regexp_replace(regexp_replace(normalize(lower(description), NFKD), '[\u0300-\u036f]', '', 'g'), '\s+', ' ', 'g')
          ) > 0
      )
  )::int as described
from
  page;

-- src/operator/unknown-repository.ts: unknown-answers
-- $1 codes, $2 shown, $3 limit
select
  response.http_status as "httpStatus",
  response.provider_status as "providerStatus",
  response.provider_code as code,
  count(distinct t.id)::int as payments,
  min(t.created_at) as "oldestAt",
  (array_agg(distinct t.id)) [1:$2::int] as "transactionIds"
from
  (
    select
      transaction_id
    from
      pix_open
    where
      not has_code
  ) open
  join pix_transactions t on t.id = any (array[open.transaction_id])
  join pix_timeline response on response.transaction_id = t.id
  and (
    response.phase = 'UNKNOWN'
    or response.phase = 'PAYING'
    and response.attempt > 1
  )
where
  t.status = 'PROCESSING'
  and t.qr_code is null
  and t.operation in ('SEND', 'REFUND_OUT')
  and t.phase = 'UNKNOWN'
  and not coalesce(response.note, '') in ('after_not_sent', 'not_sent')
  and not coalesce(
    response.provider_code = any ($1::text[])
    and (
      response.http_status >= 400
      and response.http_status < 500
      and response.http_status not in (401, 408, 409, 425, 429)
      or response.provider_status = '2xx'
    ),
    false
  )
group by
  1,
  2,
  3
order by
  payments desc,
  "oldestAt"
limit
  $3::int;

-- src/operator/unknown-repository.ts: unknown-codes-count
-- $1 codes
select
  count(distinct t.id)::int as payments
from
  (
    select
      transaction_id
    from
      pix_open
    where
      not has_code
  ) open
  join pix_transactions t on t.id = any (array[open.transaction_id])
  join pix_timeline response on response.transaction_id = t.id
  and (
    response.phase = 'UNKNOWN'
    or response.phase = 'PAYING'
    and response.attempt > 1
  )
where
  t.status = 'PROCESSING'
  and t.qr_code is null
  and t.operation in ('SEND', 'REFUND_OUT')
  and t.phase = 'UNKNOWN'
  and not coalesce(response.note, '') in ('after_not_sent', 'not_sent')
  and response.provider_code <> all ($1::text[]);

-- src/operator/unknown-repository.ts: unknown-refused
-- $1 codes, $2 after, $3 now, $4 limit
select
  t.id,
  t.operation,
  t.user_id as "userId",
  t.idempotency_key as "idempotencyKey",
  t.amount,
  t.end_to_end as "endToEnd",
  t.provider_txid as "providerTxid",
  t.transaction_identification as "transactionIdentification",
  t.created_at as "createdAt",
  last.code,
  coalesce(unknown.since, t.created_at) as "unknownSince",
  s.id as "sessionId",
  s.sealed_token as "sealedToken"
from
  (
    select
      transaction_id
    from
      pix_open
    where
      not has_code
  ) open
  join pix_transactions t on t.id = any (array[open.transaction_id])
  left join lateral (
    select
      provider_code as code
    from
      pix_timeline
    where
      transaction_id = t.id
      and provider_code = any ($1::text[])
    order by
      id desc
    limit
      1
  ) last on true
  left join lateral (
    select
      max(at) as since
    from
      pix_timeline
    where
      transaction_id = t.id
      and phase = 'UNKNOWN'
  ) unknown on true
  left join banking_sessions s on s.user_id = t.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > $3::timestamptz
  )
where
  t.status = 'PROCESSING'
  and t.qr_code is null
  and t.operation in ('SEND', 'REFUND_OUT')
  and t.phase = 'UNKNOWN'
  and t.id > $2::uuid
  and coalesce(
    (
      select
        count(*) filter (
          where
            attempt.phase = 'PAYING'
        ) = count(
          distinct attempt.attempt - case
            when attempt.phase = 'PAYING' then 1
            else 0
          end
        ) filter (
          where
            (
              attempt.phase = 'UNKNOWN'
              or attempt.phase = 'PAYING'
              and attempt.attempt > 1
            )
            and (
              coalesce(attempt.note, '') in ('after_not_sent', 'not_sent')
              or coalesce(
                attempt.provider_code = any ($1::text[])
                and (
                  attempt.http_status >= 400
                  and attempt.http_status < 500
                  and attempt.http_status not in (401, 408, 409, 425, 429)
                  or attempt.provider_status = '2xx'
                ),
                false
              )
            )
        )
      from
        pix_timeline attempt
      where
        attempt.transaction_id = t.id
        and attempt.phase in ('PAYING', 'UNKNOWN')
      having
        count(*) filter (
          where
            attempt.phase = 'PAYING'
        ) > 0
    ),
    false
  )
order by
  t.id
limit
  $4::int;

-- src/operator/user-inspection-repository.ts: inspect-user
-- $1 id, $2 now
select
  u.id,
  u.name,
  u.email,
  u.document,
  u.phone,
  u.person_type as "personType",
  u.status,
  u.created_at as "createdAt",
  a.status as "accountStatus",
  a.provider as "accountProvider",
  a.agency,
  a.account_number as "accountNumber",
  o.status as onboarding,
  s.renewed_at as "loggedInAt",
  s.token_expires_at as "tokenExpiresAt",
  (
    select
      count(*)::int
    from
      pix_transactions t
    where
      t.user_id = u.id
      and t.status = 'PROCESSING'
      and t.qr_code is null
  ) as "openPayments"
from
  users u
  left join accounts a on a.user_id = u.id
  left join onboarding_applications o on o.user_id = u.id
  left join banking_sessions s on s.user_id = u.id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > $2::timestamptz
  )
where
  u.id = $1::int;

-- src/operator/user-session-repository.ts: ops-user-session
-- $1 userId, $2 now
select
  s.user_id as "userId",
  s.id as "sessionId",
  s.sealed_token as "sealedToken"
from
  banking_sessions s
where
  s.user_id = $1::int
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > $2::timestamptz
  );

-- src/operator/webhook-repository.ts: inspect-event
-- $1 id
select
  e.id,
  e.status,
  e.received_at as "receivedAt",
  e.processed_at as "processedAt",
  queue.due_at as "dueAt",
  queue.failures,
  queue.last_error as "lastError",
  octet_length(e.payload) as "payloadBytes",
  (
    select
      jsonb_object_agg(counted.result, counted.times)
    from
      (
        select
          item ->> 'result' as result,
          count(*) as times
        from
          jsonb_array_elements(e.results) as item
        group by
          1
      ) as counted
  ) as outcomes,
  e.payload,
  e.results,
  array(
    select
      id_value
    from
      webhook_waits
    where
      event_id = e.id
    order by
      id_value
  ) as "waitsFor"
from
  webhook_events e
  left join webhook_queue queue on queue.event_id = e.id
where
  e.id = $1::uuid;

-- src/operator/webhook-repository.ts: inspect-events
-- $1 status, $2 attention, $3 from, $4 to, $5 since, $6 until, $7 ids, $8 limit
select
  e.id,
  e.status,
  e.received_at as "receivedAt",
  e.processed_at as "processedAt",
  queue.due_at as "dueAt",
  queue.failures,
  queue.last_error as "lastError",
  octet_length(e.payload) as "payloadBytes",
  (
    select
      jsonb_object_agg(counted.result, counted.times)
    from
      (
        select
          item ->> 'result' as result,
          count(*) as times
        from
          jsonb_array_elements(e.results) as item
        group by
          1
      ) as counted
  ) as outcomes
from
  webhook_events e
  left join webhook_queue queue on queue.event_id = e.id
where
  (
    $1::text is null
    or e.status = $1::text
  )
  and (
    $2::text is null
    or e.attention = $2::text
  )
  and e.id between $3::uuid and $4::uuid
  and (
    $5::timestamptz is null
    or e.received_at >= $5::timestamptz
  )
  and (
    $6::timestamptz is null
    or e.received_at <= $6::timestamptz
  )
  and (
    $7::uuid[] is null
    or e.id = any ($7::uuid[])
  )
order by
  e.id desc
limit
  $8::int;

-- src/operator/webhook-repository.ts: inspect-events-count
-- $1 status, $2 attention, $3 from, $4 to, $5 since, $6 until, $7 ids, $8 after, $9 limit
select
  count(*)::int as events
from
  (
    select
    from
      webhook_events e
    where
      (
        $1::text is null
        or e.status = $1::text
      )
      and (
        $2::text is null
        or e.attention = $2::text
      )
      and e.id between $3::uuid and $4::uuid
      and (
        $5::timestamptz is null
        or e.received_at >= $5::timestamptz
      )
      and (
        $6::timestamptz is null
        or e.received_at <= $6::timestamptz
      )
      and (
        $7::uuid[] is null
        or e.id = any ($7::uuid[])
      )
      and e.id > $8::uuid
    limit
      $9::int
  ) as counted;

-- src/operator/webhook-repository.ts: inspect-events-known
-- $1 ids
select
  id
from
  webhook_events
where
  id = any ($1::uuid[]);

-- src/operator/webhook-repository.ts: inspect-events-naming
-- $1 transactionId, $2 from, $3 to, $4 limit
select
  id
from
  webhook_events
where
  id between $2::uuid and $3::uuid
  and results @> jsonb_build_array(jsonb_build_object('transactionId', $1::uuid))
limit
  $4::int;

-- src/operator/webhook-repository.ts: inspect-events-of-transaction
-- $1 transactionId, $2 limit
select
  event_id as id
from
  pix_timeline
where
  transaction_id = $1::uuid
  and event_id is not null
union
select
  wait.event_id
from
  pix_transactions t
  join webhook_waits wait on wait.id_value in (
    t.end_to_end,
    t.provider_txid,
    left(t.transaction_identification, 25),
    case
      when t.operation = 'SEND' then t.idempotency_key
    end
  )
where
  t.id = $1::uuid
limit
  $2::int;

-- src/operator/webhook-repository.ts: inspect-events-page
-- $1 status, $2 attention, $3 from, $4 to, $5 since, $6 until, $7 ids, $8 after, $9 limit
select
  e.id,
  e.status,
  e.results
from
  webhook_events e
where
  (
    $1::text is null
    or e.status = $1::text
  )
  and (
    $2::text is null
    or e.attention = $2::text
  )
  and e.id between $3::uuid and $4::uuid
  and (
    $5::timestamptz is null
    or e.received_at >= $5::timestamptz
  )
  and (
    $6::timestamptz is null
    or e.received_at <= $6::timestamptz
  )
  and (
    $7::uuid[] is null
    or e.id = any ($7::uuid[])
  )
  and e.id > $8::uuid
order by
  e.id
limit
  $9::int;

-- src/operator/webhook-repository.ts: inspect-events-unsettled
-- $1 ids, $2 from, $3 limit
select
  queue.event_id as id
from
  webhook_queue queue
  join webhook_events e on e.id = queue.event_id
where
  e.status = 'received'
  or exists (
    select
    from
      webhook_waits wait
    where
      wait.event_id = e.id
      and wait.id_value = any ($1::text[])
  )
union
select
  id
from
  webhook_events
where
  attention = 'orphaned'
  and id >= $2::uuid
limit
  $3::int;

-- src/operator/webhook-repository.ts: inspect-events-waiting
-- $1 id, $2 limit
select
  event_id as id
from
  webhook_waits
where
  id_value = $1::text
limit
  $2::int;

-- src/operator/webhook-repository.ts: inspect-events-when-open
-- $1 transactionId
select
  created_at as "createdAt",
  settled_at as "settledAt"
from
  pix_transactions
where
  id = $1::uuid;

-- src/operator/webhook-repository.ts: ops-events-accept
-- $1 ids
update webhook_events e
set
  status = case
    when exists (
      select
      from
        jsonb_array_elements(e.results) as item
      where
        item ->> 'result' in ('applied', 'already')
    ) then 'processed'
    else 'ignored'
  end,
  attention = null
where
  id = any ($1::uuid[])
  and attention in ('orphaned', 'anomaly')
  and not exists (
    select
    from
      webhook_queue queue
    where
      queue.event_id = e.id
  )
returning
  id;

-- src/pages/change-repository.ts: page-last-settled
select
  max(settled_at) as at
from
  pix_transactions;

-- src/pix/limit-event-repository.ts: pix-limits-changed
-- $1 id, $2 userId, $3 now
with
  event as (
    insert into
      app_events (id, type, user_id, status, at)
    values
      ($1::text, 'limits.changed', $2::int, 'CHANGED', $3::timestamptz)
    returning
      id
  ),
  queued as (
    insert into
      jobs (kind, payload, unique_key, status, run_at, created_at)
    select
      'deliver-app-event',
      jsonb_build_object('id', id),
      'app-event:' || id,
      'queued',
      $3::timestamptz,
      $3::timestamptz
    from
      event
  )
select
  pg_notify ('ponte_jobs', '')
from
  event;

-- src/process/refusal-repository.ts: webhook-refusals-add
-- $1 counts, $2 minute, $3 now
insert into
  webhook_refusals as stored (minute, reason, refusals, last_at)
select
  $2::timestamptz,
  reason,
  refusals,
  $3::timestamptz
from
  jsonb_to_recordset($1::jsonb) as counted (reason text, refusals int)
order by
  reason
on conflict (minute, reason) do update
set
  refusals = stored.refusals + excluded.refusals,
  last_at = greatest(stored.last_at, excluded.last_at);

-- src/retention/retention-repository.ts: retention-addresses
-- $1 before, $2 limit
with
  deleted as (
    delete from login_addresses
    where
      (user_id, address_digest) in (
        select
          user_id,
          address_digest
        from
          login_addresses
        where
          last_login_at <= $1::timestamptz
        order by
          last_login_at
        limit
          $2::int
        for update
          skip locked
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  deleted;

-- src/retention/retention-repository.ts: retention-app-events
-- $1 before, $2 limit
with
  deleted as (
    delete from app_events
    where
      id = any (
        array(
          select
            id
          from
            app_events
          where
            delivered_at < $1::timestamptz
          order by
            delivered_at
          limit
            $2::int
          for update
            skip locked
        )
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  deleted;

-- src/retention/retention-repository.ts: retention-applications
-- $1 before, $2 limit
with
  expired as (
    select
      id,
      user_id
    from
      onboarding_applications
    where
      status <> 'APPROVED'
      and updated_at < $1::timestamptz
    order by
      updated_at
    limit
      $2::int
    for update
      skip locked
  ),
  documents as (
    delete from onboarding_documents
    where
      application_id = any (
        array(
          select
            id
          from
            expired
        )
      )
  ),
  applications as (
    delete from onboarding_applications
    where
      id = any (
        array(
          select
            id
          from
            expired
        )
      )
  ),
  strangers as (
    delete from users u
    where
      id = any (
        array(
          select
            user_id
          from
            expired
        )
      )
      and not exists (
        select
        from
          banking_sessions
        where
          user_id = u.id
      )
      and not exists (
        select
        from
          accounts
        where
          user_id = u.id
      )
      and not exists (
        select
        from
          pix_transactions
        where
          user_id = u.id
      )
  )
select
  count(*)::int as rows
from
  expired;

-- src/retention/retention-repository.ts: retention-differences
-- $1 before, $2 limit
with
  deleted as (
    delete from reconciliation_differences
    where
      id = any (
        array(
          select
            id
          from
            reconciliation_differences
          where
            closed_at < $1::timestamptz
          order by
            closed_at
          limit
            $2::int
          for update
            skip locked
        )
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  deleted;

-- src/retention/retention-repository.ts: retention-dispute-details
-- $1 before, $2 limit
with
  cleared as (
    update pix_disputes
    set
      details = null
    where
      transaction_id = any (
        array(
          select
            transaction_id
          from
            pix_disputes
          where
            details is not null
            and ended_at < $1::timestamptz
          order by
            ended_at
          limit
            $2::int
          for update
            skip locked
        )
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  cleared;

-- src/retention/retention-repository.ts: retention-documents
-- $1 before, $2 limit
with
  deleted as (
    delete from onboarding_documents
    where
      id = any (
        array(
          select
            d.id
          from
            onboarding_documents d
            join onboarding_applications a on a.id = d.application_id
          where
            a.status in ('APPROVED', 'REJECTED')
            and coalesce(
              (
                select
                  (step ->> 'updatedAt')::timestamptz
                from
                  jsonb_array_elements(a.steps) as step
                where
                  step ->> 'name' = 'kyc'
              ),
              a.updated_at
            ) < $1::timestamptz
          limit
            $2::int
          for update of
            d skip locked
        )
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  deleted;

-- src/retention/retention-repository.ts: retention-jobs
-- $1 before, $2 limit
with
  deleted as (
    delete from jobs
    where
      id = any (
        array(
          select
            id
          from
            jobs
          where
            status = 'done'
            and finished_at < $1::timestamptz
          order by
            finished_at
          limit
            $2::int
          for update
            skip locked
        )
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  deleted;

-- src/retention/retention-repository.ts: retention-payloads
-- $1 before, $2 limit
with
  purged as (
    update webhook_events
    set
      payload = null
    where
      id = any (
        array(
          select
            id
          from
            webhook_events
          where
            payload is not null
            and received_at < $1::timestamptz
            and status in ('processed', 'ignored')
          order by
            received_at
          limit
            $2::int
          for update
            skip locked
        )
      )
    returning
      id
  ),
  forgotten as (
    delete from webhook_waits
    where
      event_id = any (
        array(
          select
            id
          from
            purged
        )
      )
  )
select
  count(*)::int as rows
from
  purged;

-- src/retention/retention-repository.ts: retention-reconciliations
-- $1 before, $2 limit
with
  deleted as (
    delete from reconciliations
    where
      (day, user_id) in (
        select
          day,
          user_id
        from
          reconciliations
        where
          day < $1::timestamptz::date
        order by
          day
        limit
          $2::int
        for update
          skip locked
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  deleted;

-- src/retention/retention-repository.ts: retention-security-events
-- $1 before, $2 limit
with
  deleted as (
    delete from security_events
    where
      id = any (
        array(
          select
            id
          from
            security_events
          where
            at < $1::timestamptz
          order by
            at
          limit
            $2::int
          for update
            skip locked
        )
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  deleted;

-- src/retention/retention-repository.ts: retention-sessions
-- $1 before, $2 limit
with
  expired as (
    update banking_sessions
    set
      status = 'EXPIRED',
      sealed_token = null,
      ended_at = $1::timestamptz
    where
      id = any (
        array(
          select
            id
          from
            banking_sessions
          where
            status = 'ACTIVE'
            and token_expires_at <= $1::timestamptz
          order by
            token_expires_at
          limit
            $2::int
          for update
            skip locked
        )
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  expired;

-- src/retention/retention-repository.ts: retention-throttle
-- $1 before, $2 limit
with
  deleted as (
    delete from throttle_counters
    where
      key = any (
        array(
          select
            key
          from
            throttle_counters
          where
            expires_at <= $1::timestamptz
          order by
            expires_at
          limit
            $2::int
          for update
            skip locked
        )
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  deleted;

-- src/retention/retention-repository.ts: retention-uploads
-- $1 before, $2 limit
with
  deleted as (
    delete from onboarding_documents
    where
      id = any (
        array(
          select
            id
          from
            onboarding_documents
          where
            status = 'receiving'
            and created_at < $1::timestamptz
          order by
            created_at
          limit
            $2::int
          for update
            skip locked
        )
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  deleted;

-- src/retention/retention-repository.ts: retention-webhook-refusals
-- $1 before, $2 limit
with
  deleted as (
    delete from webhook_refusals
    where
      (minute, reason) in (
        select
          minute,
          reason
        from
          webhook_refusals
        where
          minute < $1::timestamptz
        order by
          minute
        limit
          $2::int
        for update
          skip locked
      )
    returning
      1
  )
select
  count(*)::int as rows
from
  deleted;

-- src/retention/sealed-value-repository.ts: seal-again-chunks-find
-- $1 prefix, $2 after, $3 limit
select
  document_id || ':' || to_char(place, 'FM0000000000') as key,
  'document:' || d.application_id || ':' || d.id || ':' || place as owner,
  onboarding_document_chunks.sealed_content as sealed
from
  onboarding_document_chunks
  join onboarding_documents d on d.id = document_id
where
  onboarding_document_chunks.sealed_content is not null
  and document_id || ':' || to_char(place, 'FM0000000000') > $2::text
  and substring(
    onboarding_document_chunks.sealed_content
    from
      1 for length($1::bytea)
  ) <> $1::bytea
order by
  document_id || ':' || to_char(place, 'FM0000000000')
limit
  $3::int;

-- src/retention/sealed-value-repository.ts: seal-again-chunks-replace
-- $1 key, $2 from, $3 to
update onboarding_document_chunks
set
  sealed_content = $3::bytea
where
  document_id || ':' || to_char(place, 'FM0000000000') = $1::text
  and onboarding_document_chunks.sealed_content = $2::bytea;

-- src/retention/sealed-value-repository.ts: seal-again-client-tokens-find
-- $1 prefix, $2 after, $3 limit
select
  to_char(user_id, 'FM0000000000') as key,
  'client-token:' || user_id as owner,
  decode(substr(provider_client_token, 8), 'base64') as sealed
from
  accounts
where
  provider_client_token like 'sealed:%'
  and to_char(user_id, 'FM0000000000') > $2::text
  and substring(
    decode(substr(provider_client_token, 8), 'base64')
    from
      1 for length($1::bytea)
  ) <> $1::bytea
order by
  to_char(user_id, 'FM0000000000')
limit
  $3::int;

-- src/retention/sealed-value-repository.ts: seal-again-client-tokens-replace
-- $1 key, $2 from, $3 to
update accounts
set
  provider_client_token = 'sealed:' || encode($3::bytea, 'base64')
where
  to_char(user_id, 'FM0000000000') = $1::text
  and decode(substr(provider_client_token, 8), 'base64') = $2::bytea;

-- src/retention/sealed-value-repository.ts: seal-again-codes-find
-- $1 prefix, $2 after, $3 limit
select
  id::text as key,
  'onboarding:' || id as owner,
  sealed_code as sealed
from
  onboarding_applications
where
  sealed_code is not null
  and id::text > $2::text
  and substring(
    sealed_code
    from
      1 for length($1::bytea)
  ) <> $1::bytea
order by
  id::text
limit
  $3::int;

-- src/retention/sealed-value-repository.ts: seal-again-codes-replace
-- $1 key, $2 from, $3 to
update onboarding_applications
set
  sealed_code = $3::bytea
where
  id::text = $1::text
  and sealed_code = $2::bytea;

-- src/retention/sealed-value-repository.ts: seal-again-disputes-find
-- $1 prefix, $2 after, $3 limit
select
  transaction_id::text as key,
  'dispute:' || transaction_id as owner,
  details as sealed
from
  pix_disputes
where
  details is not null
  and transaction_id::text > $2::text
  and substring(
    details
    from
      1 for length($1::bytea)
  ) <> $1::bytea
order by
  transaction_id::text
limit
  $3::int;

-- src/retention/sealed-value-repository.ts: seal-again-disputes-replace
-- $1 key, $2 from, $3 to
update pix_disputes
set
  details = $3::bytea
where
  transaction_id::text = $1::text
  and details = $2::bytea;

-- src/retention/sealed-value-repository.ts: seal-again-sessions-find
-- $1 prefix, $2 after, $3 limit
select
  id::text as key,
  'user:' || user_id as owner,
  sealed_token as sealed
from
  banking_sessions
where
  sealed_token is not null
  and id::text > $2::text
  and substring(
    sealed_token
    from
      1 for length($1::bytea)
  ) <> $1::bytea
order by
  id::text
limit
  $3::int;

-- src/retention/sealed-value-repository.ts: seal-again-sessions-replace
-- $1 key, $2 from, $3 to
update banking_sessions
set
  sealed_token = $3::bytea
where
  id::text = $1::text
  and sealed_token = $2::bytea;

-- src/settlement/event-queue-repository.ts: webhook-queue-add
-- $1 eventId, $2 now, $3 waitingSince
insert into
  webhook_queue (event_id, due_at, waiting_since)
select
  id,
  $2::timestamptz,
  coalesce($3::timestamptz, received_at)
from
  webhook_events
where
  id = $1::uuid
  and payload is not null
on conflict (event_id) do update
set
  due_at = least(webhook_queue.due_at - interval '1 millisecond', excluded.due_at),
  waiting_since = greatest(webhook_queue.waiting_since, excluded.waiting_since)
returning
  pg_notify ('ponte_webhooks', '');

-- src/settlement/event-queue-repository.ts: webhook-queue-adopt
-- $1 now
insert into
  webhook_queue (event_id, due_at, waiting_since)
select
  id,
  $1::timestamptz,
  received_at
from
  webhook_events
where
  id in (
    select
      event_id
    from
      webhook_waits wait
    where
      not exists (
        select
        from
          webhook_queue queue
        where
          queue.event_id = wait.event_id
      )
  )
order by
  id
on conflict (event_id) do nothing;

-- src/settlement/event-queue-repository.ts: webhook-queue-postpone (batched)
-- $1 eventId, $2 begunAt, $3 nextAt, $4 error
update webhook_queue queue
set
  due_at = requested.next_at,
  attempts = 0,
  waits = 0,
  failures = case
    when requested.error is null then failures
    else failures + 1
  end,
  last_error = requested.error
from
  unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::text[]) with ordinality as requested (event_id, begun_at, next_at, error, ordinal)
where
  queue.event_id = any (array[requested.event_id])
  and queue.due_at = requested.begun_at
returning
  requested.ordinal;

-- src/settlement/event-queue-repository.ts: webhook-queue-remove (batched)
-- $1 eventId
delete from webhook_queue queue using unnest($1::uuid[]) with ordinality as requested (event_id, ordinal)
where
  queue.event_id = any (array[requested.event_id])
returning
  requested.ordinal;

-- src/settlement/event-queue-repository.ts: webhook-queue-take (indexed)
-- $1 now, $2 nextAt, $3 rareAt, $4 underWay, $5 room
with
  taken as (
    update webhook_queue
    set
      due_at = case
        when attempts < 8 then $2::timestamptz
        else $3::timestamptz
      end,
      attempts = attempts + 1,
      waits = waits + 1
    where
      event_id = any (
        array(
          select
            event_id
          from
            webhook_queue
          where
            due_at <= $1::timestamptz
            and event_id <> all ($4::uuid[])
          order by
            due_at,
            event_id
          limit
            $5::int
          for update
            skip locked
        )
      )
    returning
      event_id as "eventId",
      waiting_since as "waitingSince",
      waits,
      failures,
      due_at as "dueAt"
  )
select
  taken.*,
  next_due_at as "nextDueAt",
  exists (
    select
    from
      webhook_queue
    where
      seen is not null
  ) as "someWait"
from
  (
    select
      min(due_at) as next_due_at
    from
      webhook_queue
    where
      due_at > $1::timestamptz
  ) as next
  left join taken on true;

-- src/settlement/event-queue-repository.ts: webhook-queue-waiting (indexed)
-- $1 after, $2 limit
select
  waiting.event_id as "eventId",
  waiting.seen,
  waiting.waiting_since as "waitingSince",
  stored.id,
  stored.phase,
  stored.updated_at as "updatedAt"
from
  (
    select
      event_id,
      seen,
      waiting_since
    from
      webhook_queue
    where
      seen is not null
      and event_id > $1::uuid
    order by
      event_id
    limit
      $2::int
  ) waiting
  left join lateral (
    select
      t.id,
      t.phase,
      t.updated_at
    from
      webhook_waits wait
      join pix_transactions t on (
        t.end_to_end = wait.id_value
        or left(t.transaction_identification, 25) = wait.id_value
        or t.id = any (
          array(
            select
              id
            from
              pix_transactions
            where
              idempotency_key = wait.id_value
              and operation = 'SEND'
            order by
              user_id
            limit
              20
          )
        )
        or t.id = any (
          array(
            select
              transaction_id
            from
              pix_timeline
            where
              provider_txid = wait.id_value
            limit
              20
          )
        )
      )
    where
      wait.event_id = waiting.event_id
  ) stored on true
order by
  waiting.event_id,
  stored.id;

-- src/settlement/event-queue-repository.ts: webhook-queue-wake (indexed)
-- $1 now, $2 eventIds, $3 seen
update webhook_queue queue
set
  due_at = $1::timestamptz,
  waits = 0,
  seen = woken.seen
from
  unnest($2::uuid[], $3::text[]) as woken (event_id, seen)
where
  queue.event_id = woken.event_id
  and queue.event_id = any (
    array(
      select
        event_id
      from
        webhook_queue
      where
        event_id = any ($2::uuid[])
        and attempts = 0
      order by
        event_id
      for update
        skip locked
    )
  )
returning
  queue.event_id;

-- src/settlement/event-repository.ts: webhook-find (batched)
-- $1 eventId
select
  ordinal,
  id,
  payload,
  status,
  results,
  received_at as "receivedAt",
  processed_at as "processedAt"
from
  unnest($1::uuid[]) with ordinality as requested (event_id, ordinal)
  join webhook_events on id = any (array[event_id]);

-- src/settlement/event-repository.ts: webhook-finish (batched)
-- $1 id, $2 status, $3 results, $4 begunAt, $5 attemptedBefore, $6 attemptedAt, $7 now, $8 moves
with
  requested as (
    select
      *
    from
      unnest(
        $1::uuid[],
        $2::text[],
        $3::text[],
        $4::timestamptz[],
        $5::timestamptz[],
        $6::timestamptz[],
        $7::timestamptz[],
        $8::text[]
      ) with ordinality as requested (id, status, results, begun_at, attempted_before, attempted_at, now, moves, ordinal)
  ),
  moves as (
    select
      move.*,
      requested.ordinal,
      requested.now
    from
      requested,
      jsonb_to_recordset(requested.moves::jsonb) as
    move (
      id uuid,
      from_phases text,
      phase text,
      status text,
      end_to_end text,
      outcome text,
      failure_code text,
      provider_txid text,
      qr_code text,
      copy_paste text,
      claimed_until timestamptz,
      timeline jsonb
    )
    where
      move.id = any (array[move.id])
    order by
      move.id,
      requested.ordinal
  ),
  moved as (
    update pix_transactions t
    set
      phase = move.phase,
      status = move.status,
      end_to_end = coalesce(move.end_to_end, t.end_to_end),
      outcome = coalesce(move.outcome, t.outcome),
      failure_code = coalesce(move.failure_code, t.failure_code),
      provider_txid = coalesce(t.provider_txid, move.provider_txid),
      qr_code = coalesce(move.qr_code, t.qr_code),
      copy_paste = coalesce(move.copy_paste, t.copy_paste),
      claimed_until = move.claimed_until,
      updated_at = move.now,
      settled_at = case
        when move.status <> 'PROCESSING' then move.now
      end
    from
      moves
    move
    where
      t.id = any (array[move.id])
      and t.settled_at is null
      and t.phase = any (move.from_phases::text[])
      and coalesce(t.end_to_end = move.end_to_end, true)
      and (
        move.status <> 'FAILED'
        or t.reached_payee is not true
        and (
          not t.phase in ('RESERVED', 'RESOLVED')
          or not t.operation in ('SEND', 'REFUND_OUT')
        )
      )
    returning
      move.ordinal,
      move.timeline,
      move.provider_txid as reported_txid,
      t.updated_at,
      t.id,
      t.user_id,
      t.operation,
      t.idempotency_key,
      t.status,
      t.phase,
      t.outcome,
      t.failure_code,
      t.amount,
      t.end_to_end,
      t.transaction_identification,
      t.qr_code,
      t.copy_paste
  ),
  noted as (
    insert into
      pix_timeline (
        transaction_id,
        phase,
        at,
        attempt,
        provider_status,
        http_status,
        provider_code,
        event_id,
        note,
        provider_txid
      )
    select
      moved.id,
      entry.phase,
      moved.updated_at,
      entry.attempt,
      entry.provider_status,
      entry.http_status,
      entry.provider_code,
      entry.event_id,
      entry.note,
      case
        when item = 1 then reported_txid
      end
    from
      moved,
      rows
    from
      (
        jsonb_to_recordset(moved.timeline::jsonb) as (
          phase text,
          attempt int,
          provider_status text,
          http_status int,
          provider_code text,
          event_id uuid,
          note text
        )
      ) with ordinality as entry (phase, attempt, provider_status, http_status, provider_code, event_id, note, item)
    order by
      moved.ordinal,
      entry.item
  ),
  finished as (
    update webhook_events event
    set
      status = requested.status,
      attention = case
        when requested.status in ('parked', 'orphaned', 'anomaly') then requested.status
      end,
      results = requested.results::jsonb,
      processed_at = requested.attempted_at
    from
      requested
    where
      event.id = any (array[requested.id])
      and event.processed_at is not distinct from requested.attempted_before
      and requested.ordinal not in (
        select
          ordinal
        from
          moves
        where
          (id, ordinal) not in (
            select
              id,
              ordinal
            from
              moved
          )
      )
    returning
      requested.ordinal,
      requested.id,
      requested.begun_at
  ),
  forgotten as (
    delete from webhook_waits wait using finished
    where
      wait.event_id = any (array[finished.id])
  ),
  ended as (
    delete from webhook_queue queue using (
      select
        ordinal,
        id,
        begun_at
      from
        finished
      order by
        id
    ) requested
    where
      queue.event_id = any (array[requested.id])
      and (
        requested.begun_at is null
        or queue.due_at = requested.begun_at
      )
    returning
      requested.ordinal
  )
select
  ordinal,
  ordinal in (
    select
      ordinal
    from
      finished
  ) as "isFinished",
  case
    when ordinal not in (
      select
        ordinal
      from
        finished
    ) then (
      select
        string_agg(moved.id::text, ' ')
      from
        moved
      where
        moved.ordinal = requested.ordinal
    )
  end as "movedIds",
  ordinal not in (
    select
      ordinal
    from
      ended
  ) as "isQueued",
  (
    select
      pg_notify (
        'ponte_pix',
        case
          when count(*) <= 200 then string_agg(id::text, ' ')
          else ''
        end
      )::text
    from
      moved
    where
      status <> 'PROCESSING'
    having
      count(*) > 0
  )
from
  requested;

-- src/settlement/event-repository.ts: webhook-park (batched)
-- $1 id, $2 status, $3 results, $4 begunAt, $5 attemptedBefore, $6 attemptedAt, $7 ids, $8 dueAt,
-- $9 waitingSince
with
  requested as (
    select
      *
    from
      unnest(
        $1::uuid[],
        $2::text[],
        $3::text[],
        $4::timestamptz[],
        $5::timestamptz[],
        $6::timestamptz[],
        $7::text[],
        $8::timestamptz[],
        $9::timestamptz[]
      ) with ordinality as requested (id, status, results, begun_at, attempted_before, attempted_at, ids, due_at, waiting_since, ordinal)
  ),
  finished as (
    update webhook_events event
    set
      status = requested.status,
      attention = case
        when requested.status in ('parked', 'orphaned', 'anomaly') then requested.status
      end,
      results = requested.results::jsonb,
      processed_at = requested.attempted_at
    from
      requested
    where
      event.id = any (array[requested.id])
      and event.processed_at is not distinct from requested.attempted_before
    returning
      requested.ordinal,
      requested.id,
      requested.ids,
      requested.due_at,
      requested.begun_at,
      requested.waiting_since
  ),
  waits as materialized (
    select
      id as event_id,
      id_value
    from
      finished,
      jsonb_array_elements_text(ids::jsonb) as id_value
  ),
  forgotten as (
    delete from webhook_waits wait using finished
    where
      wait.event_id = any (array[finished.id])
      and (wait.event_id, wait.id_value) not in (
        select
          event_id,
          id_value
        from
          waits
      )
  ),
  waiting as (
    insert into
      webhook_waits (id_value, event_id)
    select
      id_value,
      event_id
    from
      waits
    on conflict do nothing
  ),
  kept as (
    update webhook_queue queue
    set
      due_at = case
        when queue.due_at = requested.begun_at then requested.due_at
        else least(queue.due_at - interval '1 millisecond', requested.due_at)
      end,
      waiting_since = greatest(queue.waiting_since, requested.waiting_since),
      attempts = 0,
      failures = 0,
      last_error = null,
      seen = coalesce(queue.seen, '')
    from
      (
        select
          id,
          due_at,
          begun_at,
          waiting_since
        from
          finished
        order by
          id
      ) requested
    where
      queue.event_id = any (array[requested.id])
    returning
      queue.event_id
  ),
  added as (
    insert into
      webhook_queue (event_id, due_at, waiting_since, seen)
    select
      id,
      due_at,
      waiting_since,
      ''
    from
      finished
    where
      id not in (
        select
          event_id
        from
          kept
      )
    order by
      id
    on conflict (event_id) do update
    set
      due_at = least(webhook_queue.due_at - interval '1 millisecond', excluded.due_at),
      waiting_since = greatest(webhook_queue.waiting_since, excluded.waiting_since),
      seen = coalesce(webhook_queue.seen, '')
  )
select
  ordinal
from
  finished;

-- src/settlement/event-repository.ts: webhook-store (batched)
-- $1 eventId, $2 payloadHash, $3 payload, $4 now, $5 dueAt, $6 failed, $7 endToEnd,
-- $8 clientRequestId, $9 txid, $10 providerTxid
with
  requested as materialized (
    select
      *
    from
      unnest(
        $1::uuid[],
        $2::bytea[],
        $3::bytea[],
        $4::timestamptz[],
        $5::timestamptz[],
        $6::text[],
        $7::text[],
        $8::text[],
        $9::text[],
        $10::text[]
      ) with ordinality as requested (
        event_id,
        payload_hash,
        payload,
        now,
        due_at,
        failed,
        end_to_end,
        client_request_id,
        txid,
        provider_txid,
        ordinal
      )
  ),
  stored as (
    insert into
      webhook_events (id, payload_hash, payload, status, received_at)
    select
      event_id,
      payload_hash,
      payload,
      'received',
      now
    from
      requested
    order by
      payload_hash,
      ordinal
    on conflict (payload_hash) do nothing
    returning
      id
  ),
  received as (
    select
      *,
      event_id in (
        select
          id
        from
          stored
      ) as is_new
    from
      requested
  ),
  waiting as (
    insert into
      webhook_waits (id_value, event_id)
    select
      failed,
      event_id
    from
      received
    where
      is_new
      and failed is not null
  ),
  queued as (
    insert into
      webhook_queue (event_id, due_at, waiting_since)
    select
      event_id,
      due_at,
      now
    from
      received
    where
      is_new
    returning
      case
        when due_at <= waiting_since then pg_notify ('ponte_webhooks', '')
      end
  ),
  revived as (
    insert into
      webhook_queue (event_id, due_at, waiting_since)
    select
      event.id,
      now,
      event.received_at
    from
      requested
      join webhook_events event on event.payload_hash = any (array[requested.payload_hash])
    where
      event.status in ('received', 'parked', 'orphaned')
      or event.results @> '[{"result": "orphaned"}]'
    order by
      event.id
    on conflict (event_id) do nothing
    returning
      pg_notify ('ponte_webhooks', '')
  )
select
  ordinal,
  is_new as "isNew",
  case
    when is_new then event_id
    else known_id
  end as "eventId",
  found.id,
  found.user_id as "userId",
  found.operation,
  found.idempotency_key as "idempotencyKey",
  found.status,
  found.phase,
  found.outcome,
  found.failure_code as "failureCode",
  found.amount,
  found.end_to_end as "endToEnd",
  found.transaction_identification as "transactionIdentification",
  found.qr_code as "qrCode",
  found.copy_paste as "copyPaste",
  found.pix_key as "pixKey",
  found.provider_txid as "providerTxid",
  found.created_at as "createdAt",
  found.expires_at as "expiresAt",
  found.reached_payee as "reachedPayee",
  found.repeated,
  found.owner,
  found.paid_by as "paidBy"
from
  received requested
  left join lateral (
    select
      id as known_id
    from
      webhook_events
    where
      payload_hash = requested.payload_hash
      and not is_new
    limit
      1
  ) known on true
  left join lateral (
    select
      found.*
    from
      lateral (
        select
          array(
            select
              transaction_id
            from
              pix_timeline
            where
              provider_txid = requested.provider_txid
          ) as ids
      ) reported,
      lateral (
        select
          t.id,
          t.user_id,
          t.operation,
          t.idempotency_key,
          t.status,
          t.phase,
          t.outcome,
          t.failure_code,
          t.amount,
          t.end_to_end,
          t.transaction_identification,
          t.qr_code,
          t.copy_paste,
          t.pix_key,
          case
            when t.id = any (reported.ids) then requested.provider_txid
            else t.provider_txid
          end as provider_txid,
          t.created_at,
          t.expires_at,
          t.reached_payee,
          t.status = 'PROCESSING'
          and (
            coalesce(
              (
                select
                  true
                from
                  pix_timeline attempt
                where
                  attempt.transaction_id = t.id
                  and attempt.phase = 'PAYING'
                  and attempt.note in ('after_unknown', 'found_after_loss')
                  and attempt.http_status is distinct from 401
                limit
                  1
              ),
              false
            )
            or (
              t.operation in ('SEND', 'REFUND_OUT')
              and exists (
                select
                from
                  pix_pauses
                where
                  lost_since <= t.created_at + interval '10 minutes'
                  and (
                    ended_at is null
                    or ended_at >= t.created_at - interval '10 minutes'
                  )
              )
            )
          ) as repeated,
          case
            when t.operation = 'CHARGE' then (
              select
                array[a.agency, a.account_number, coalesce(a.document, u.document)]
              from
                accounts a
                join users u on u.id = a.user_id
              where
                a.user_id = t.user_id
            )
          end as owner,
          case
            when t.operation = 'CHARGE'
            and t.status = 'COMPLETED' then (
              select
                array[
                  event_id::text,
                  case
                    when not exists (
                      select
                      from
                        pix_timeline earlier
                      where
                        earlier.transaction_id = step.transaction_id
                        and earlier.id < step.id
                        and earlier.provider_txid = step.provider_txid
                    ) then provider_txid
                  end
                ]
              from
                pix_timeline step
              where
                step.transaction_id = t.id
                and step.phase = 'SETTLED'
              order by
                (note like 'corrected%') is true desc,
                step.id
              limit
                1
            )
          end as paid_by
        from
          pix_transactions t
        where
          (
            t.end_to_end = requested.end_to_end
            and t.operation in ('SEND', 'CHARGE', 'RECEIVED')
          )
          or (
            t.idempotency_key = requested.client_request_id
            and t.operation = 'SEND'
            and t.amount is not null
          )
          or left(t.transaction_identification, 25) = left(requested.txid, 25)
          or t.id = any (reported.ids)
        order by
          (t.end_to_end = requested.end_to_end) is true desc,
          (left(t.transaction_identification, 25) = left(requested.txid, 25)) is true desc,
          (t.provider_txid = requested.provider_txid) is true desc
        limit
          20
      ) found
  ) found on true
order by
  ordinal,
  (found.end_to_end = requested.end_to_end) is true desc,
  (left(found.transaction_identification, 25) = left(requested.txid, 25)) is true desc,
  (found.provider_txid = requested.provider_txid) is true desc;

-- src/settlement/movement-repository.ts: reconciliation-movements
-- $1 userId, $2 from, $3 until, $4 ids
select
  id,
  user_id as "userId",
  operation,
  idempotency_key as "idempotencyKey",
  status,
  phase,
  amount,
  end_to_end as "endToEnd",
  transaction_identification as "transactionIdentification",
  provider_txid as "providerTxid",
  (
    select
      original.end_to_end
    from
      pix_transactions original
    where
      original.id = t.original_id
  ) as "originalEndToEnd",
  user_id = $1::int
  and case operation
    when 'CHARGE' then settled_at
    else created_at
  end >= $2::timestamptz
  and case operation
    when 'CHARGE' then settled_at
    else created_at
  end < $3::timestamptz as "isOfDays"
from
  pix_transactions t
where
  t.id in (
    select
      id
    from
      pix_transactions
    where
      user_id = $1::int
      and created_at < $3::timestamptz
      and amount is not null
      and (
        created_at >= $2::timestamptz
        or operation = 'CHARGE'
        and settled_at >= $2::timestamptz
      )
    union all
    select
      id
    from
      pix_transactions
    where
      end_to_end = any ($4::text[])
  );

-- src/settlement/reconciliation-repository.ts: reconciliation-again
-- $1 now, $2 oldest, $3 limit
select
  r.user_id as "userId",
  r.day::text as first,
  r.day::text as last
from
  (
    select
      user_id,
      day
    from
      reconciliations
    where
      state = 'UNREAD'
      and day >= $2::date
    union
    select
      user_id,
      day
    from
      reconciliation_differences
    where
      closed_at is null
      and day >= $2::date
  ) open
  join reconciliations r using (user_id, day)
  join banking_sessions s on s.user_id = r.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > $1::timestamptz
  )
where
  r.tried_at < case r.state
    when 'UNREAD' then $1::timestamptz - interval '1 hour'
    else $1::timestamptz - interval '20 hours'
  end
order by
  r.tried_at
limit
  $3::int;

-- src/settlement/reconciliation-repository.ts: reconciliation-count-due
-- $1 now, $2 countsLocal, $3 day, $4 afterUser, $5 readBefore, $6 limit, $7 isAgain
select
  1
from
  accounts a
  join users u on u.id = a.user_id
  left join banking_sessions s on s.user_id = a.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > $1::timestamptz
  )
where
  a.status = 'ACTIVE'
  and (
    a.provider = 'provider'
    or $2::boolean
  )
  and a.user_id > $4::int
  and not exists (
    select
    from
      reconciliations r
    where
      r.day = $3::date
      and r.user_id = a.user_id
      and (
        not $7::boolean
        or r.state = 'READ'
        and (
          $5::timestamptz is null
          or r.read_at >= $5::timestamptz
        )
        and not exists (
          select
          from
            reconciliation_differences d
          where
            d.user_id = a.user_id
            and d.day = $3::date
            and d.closed_at is null
        )
      )
  )
order by
  a.user_id
limit
  $6::int;

-- src/settlement/reconciliation-repository.ts: reconciliation-due
-- $1 now, $2 countsLocal, $3 day, $4 afterUser, $5 readBefore, $6 limit, $7 isAgain
select
  a.user_id as "userId",
  a.agency,
  a.account_number as "accountNumber",
  coalesce(a.document, u.document) as document,
  s.id as "sessionId",
  s.sealed_token as "sealedToken"
from
  accounts a
  join users u on u.id = a.user_id
  left join banking_sessions s on s.user_id = a.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > $1::timestamptz
  )
where
  a.status = 'ACTIVE'
  and (
    a.provider = 'provider'
    or $2::boolean
  )
  and a.user_id > $4::int
  and not exists (
    select
    from
      reconciliations r
    where
      r.day = $3::date
      and r.user_id = a.user_id
      and (
        not $7::boolean
        or r.state = 'READ'
        and (
          $5::timestamptz is null
          or r.read_at >= $5::timestamptz
        )
        and not exists (
          select
          from
            reconciliation_differences d
          where
            d.user_id = a.user_id
            and d.day = $3::date
            and d.closed_at is null
        )
      )
  )
order by
  a.user_id
limit
  $6::int;

-- src/settlement/reconciliation-repository.ts: reconciliation-missed
-- $1 userIds, $2 oldest, $3 until, $4 now
insert into
  reconciliations (day, user_id, state, reason, tried_at)
select
  missed::date,
  a.user_id,
  'UNREAD',
  'MISSED',
  $4::timestamptz
from
  accounts a,
  generate_series(
    greatest(
      $2::date,
      (a.created_at at time zone 'UTC' - interval '3 hours')::date,
      (
        select
          coalesce(min(day), $3::date + 1)
        from
          reconciliations
      )
    ),
    $3::date,
    interval '1 day'
  ) as missed
where
  a.user_id = any ($1::int[])
order by
  missed,
  a.user_id
on conflict (day, user_id) do nothing;

-- src/settlement/reconciliation-repository.ts: reconciliation-read
-- $1 userId, $2 first, $3 last, $4 now, $5 differences, $6 lines, $7 settled
with
  found as (
    select
      *
    from
      jsonb_to_recordset($5::jsonb) as found (
        day date,
        kind text,
        reason text,
        subject text,
        transaction_id uuid,
        end_to_end text,
        amount numeric,
        stored_amount numeric
      )
  ),
  stored as (
    insert into
      reconciliation_differences as known (
        day,
        user_id,
        kind,
        reason,
        subject,
        transaction_id,
        end_to_end,
        amount,
        stored_amount,
        found_at,
        seen_at
      )
    select
      day,
      $1::int,
      kind,
      reason,
      subject,
      transaction_id,
      end_to_end,
      amount,
      stored_amount,
      $4::timestamptz,
      $4::timestamptz
    from
      found
    order by
      kind,
      subject
    on conflict (user_id, kind, subject) do update
    set
      seen_at = excluded.seen_at,
      reason = excluded.reason,
      transaction_id = excluded.transaction_id,
      amount = case
        when known.blocks is null then excluded.amount
        else known.amount
      end,
      stored_amount = excluded.stored_amount,
      day = case
        when (
          known.closed_as = 'EXPLAINED'
          or known.closed_as = 'ACCEPTED'
          and (
            known.reason <> excluded.reason
            or known.amount <> excluded.amount
            or known.stored_amount <> excluded.stored_amount
            or known.subject like '% %'
            and $2::date > known.day + 2
          )
        ) then excluded.day
        else known.day
      end,
      found_at = case
        when (
          known.closed_as = 'EXPLAINED'
          or known.closed_as = 'ACCEPTED'
          and (
            known.reason <> excluded.reason
            or known.amount <> excluded.amount
            or known.stored_amount <> excluded.stored_amount
            or known.subject like '% %'
            and $2::date > known.day + 2
          )
        ) then excluded.found_at
        else known.found_at
      end,
      closed_at = case
        when (
          known.closed_as = 'EXPLAINED'
          or known.closed_as = 'ACCEPTED'
          and (
            known.reason <> excluded.reason
            or known.amount <> excluded.amount
            or known.stored_amount <> excluded.stored_amount
            or known.subject like '% %'
            and $2::date > known.day + 2
          )
        ) then null
        else known.closed_at
      end,
      closed_as = case
        when (
          known.closed_as = 'EXPLAINED'
          or known.closed_as = 'ACCEPTED'
          and (
            known.reason <> excluded.reason
            or known.amount <> excluded.amount
            or known.stored_amount <> excluded.stored_amount
            or known.subject like '% %'
            and $2::date > known.day + 2
          )
        ) then null
        else known.closed_as
      end
    returning
      id
  ),
  explained as (
    update reconciliation_differences known
    set
      closed_at = $4::timestamptz,
      closed_as = 'EXPLAINED',
      blocks = null
    where
      known.user_id = $1::int
      and known.day between $2::date and $3::date
      and known.closed_at is null
      and (known.kind, known.subject) not in (
        select
          kind,
          subject
        from
          found
      )
      and (
        known.blocks is null
        or exists (
          select
          from
            pix_transactions t
          where
            t.end_to_end = known.subject
            and t.operation in ('SEND', 'REFUND_OUT')
        )
      )
    returning
      id,
      user_id
  ),
  unblocked as (
    update accounts a
    set
      blocked_by = (
        select
          max(line.id)
        from
          reconciliation_differences line
        where
          line.user_id = a.user_id
          and line.blocks is not null
          and line.closed_at is null
          and line.id not in (
            select
              id
            from
              explained
          )
      )
    where
      a.user_id in (
        select
          user_id
        from
          explained
      )
      and a.blocked_by is not null
  ),
  noted as (
    insert into
      reconciliations as known (day, user_id, state, reason, tried_at, read_at, lines, settled, differences)
    select
      day::date,
      $1::int,
      'READ',
      null,
      $4::timestamptz,
      $4::timestamptz,
      $6::int,
      $7::int,
      (
        select
          count(*)
        from
          found
        where
          found.day = series.day::date
      )
    from
      generate_series($2::date, $3::date, interval '1 day') as series (day)
    on conflict (day, user_id) do update
    set
      state = 'READ',
      reason = null,
      tried_at = excluded.tried_at,
      read_at = excluded.read_at,
      lines = excluded.lines,
      settled = known.settled + excluded.settled,
      differences = excluded.differences
  )
select
  (
    select
      count(*)::int
    from
      stored
  ) as stored,
  (
    select
      count(*)::int
    from
      explained
  ) as explained;

-- src/settlement/reconciliation-repository.ts: reconciliation-unread
-- $1 userIds, $2 first, $3 last, $4 reason, $5 now
insert into
  reconciliations (day, user_id, state, reason, tried_at)
select
  day::date,
  user_id,
  'UNREAD',
  $4::text,
  $5::timestamptz
from
  unnest($1::int[]) as user_id,
  generate_series($2::date, $3::date, interval '1 day') as day
order by
  day,
  user_id
on conflict (day, user_id) do update
set
  reason = excluded.reason,
  tried_at = excluded.tried_at;

-- src/settlement/reconciliation-repository.ts: reconciliation-user
-- $1 now, $2 countsLocal, $3 userId
select
  a.user_id as "userId",
  a.agency,
  a.account_number as "accountNumber",
  coalesce(a.document, u.document) as document,
  s.id as "sessionId",
  s.sealed_token as "sealedToken"
from
  accounts a
  join users u on u.id = a.user_id
  left join banking_sessions s on s.user_id = a.user_id
  and s.status = 'ACTIVE'
  and (
    s.token_expires_at is null
    or s.token_expires_at > $1::timestamptz
  )
where
  a.status = 'ACTIVE'
  and (
    a.provider = 'provider'
    or $2::boolean
  )
  and a.user_id = $3::int;

-- src/settlement/reconciliation-repository.ts: reconciliation-waiting
-- $1 userId, $2 oldest
select
  min(day)::text as first,
  max(day)::text as last
from
  reconciliations
where
  user_id = $1::int
  and state = 'UNREAD'
  and day >= $2::date
having
  count(*) > 0;

-- src/settlement/statement-sight-repository.ts: pix-note-sight
-- $1 id, $2 readAt, $3 isDryRun
with
  seen as (
    select
      min(at) as at
    from
      pix_timeline
    where
      transaction_id = $1::uuid
      and phase = 'SEEN'
  ),
  noted as (
    insert into
      pix_timeline (transaction_id, phase, at, note)
    select
      $1::uuid,
      'SEEN',
      $2::timestamptz,
      'seen_in_statement'
    from
      seen
    where
      seen.at is null
      and not $3::boolean
    returning
      id
  )
select
  seen.at
from
  seen
  left join noted on true;
