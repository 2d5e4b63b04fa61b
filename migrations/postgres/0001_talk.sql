-- What was heard, decided and said. Documents are JSON in TEXT, because JSONB refuses U+0000.

CREATE TABLE identities (
    persona    TEXT PRIMARY KEY,
    platform   TEXT NOT NULL,
    account    TEXT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE identifies (
    persona TEXT NOT NULL,
    at      TIMESTAMPTZ NOT NULL
);
CREATE INDEX identifies_persona ON identifies (persona, at);

CREATE TABLE registrations (
    scope      TEXT PRIMARY KEY,
    hash       TEXT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE channels (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    place        TEXT NOT NULL,
    last_message TEXT NOT NULL,
    last_at      TIMESTAMPTZ NOT NULL
);

CREATE TABLE inbox (
    id           TEXT PRIMARY KEY,
    channel      TEXT NOT NULL,
    message      TEXT NOT NULL,
    complete     BOOLEAN NOT NULL,
    -- Who is shown as the speaker in the transcript; null where nothing was said or it was deleted.
    speaker      TEXT,
    sent_at      TIMESTAMPTZ NOT NULL,
    claimed_at   TIMESTAMPTZ NOT NULL,
    completed_at TIMESTAMPTZ,
    decided_at   TIMESTAMPTZ,
    decision     TEXT,
    -- The message whose turns took this one in; its own id unless it came in a burst.
    burst        TEXT,
    edited_at    TIMESTAMPTZ,
    deleted_at   TIMESTAMPTZ
);
CREATE INDEX inbox_undecided ON inbox (sent_at) WHERE decided_at IS NULL;
CREATE INDEX inbox_spoken ON inbox (channel, sent_at, id) WHERE speaker IS NOT NULL;
CREATE INDEX inbox_burst ON inbox (burst);
CREATE INDEX inbox_claimed ON inbox (claimed_at);

CREATE TABLE files (
    id      TEXT PRIMARY KEY,
    message TEXT NOT NULL,
    channel TEXT NOT NULL,
    name    TEXT NOT NULL,
    size    BIGINT NOT NULL,
    text    TEXT,
    note    TEXT,
    posted_by TEXT NOT NULL,
    at      TIMESTAMPTZ NOT NULL
);
CREATE INDEX files_channel ON files (channel, at);
CREATE INDEX files_message ON files (message);

CREATE TABLE turns (
    position      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    message       TEXT NOT NULL,
    chain         TEXT NOT NULL,
    channel       TEXT NOT NULL,
    persona       TEXT NOT NULL,
    trigger       TEXT NOT NULL,
    state         TEXT NOT NULL,
    attempts      BIGINT NOT NULL,
    queued_at     TIMESTAMPTZ NOT NULL,
    started_at    TIMESTAMPTZ,
    finished_at   TIMESTAMPTZ,
    reply         TEXT,
    model         TEXT,
    -- Why it failed or was cancelled.
    error         TEXT,
    -- The decision that its reply led to: which agents answer it, or why none does.
    follow_up     TEXT,
    input_tokens  BIGINT NOT NULL DEFAULT 0,
    cached_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    prompt_chars  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX turns_open ON turns (position) WHERE finished_at IS NULL;
CREATE INDEX turns_message ON turns (message);
CREATE INDEX turns_chain ON turns (chain);
CREATE INDEX turns_queued ON turns (queued_at);

CREATE TABLE outbox (
    position         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id               TEXT NOT NULL UNIQUE,
    channel          TEXT NOT NULL,
    turn             TEXT,
    -- The message that it is about, for the trace.
    cause            TEXT,
    kind             TEXT NOT NULL,
    message          TEXT NOT NULL,
    state            TEXT NOT NULL,
    attempts         BIGINT NOT NULL DEFAULT 0,
    created_at       TIMESTAMPTZ NOT NULL,
    first_attempt_at TIMESTAMPTZ,
    next_attempt_at  TIMESTAMPTZ NOT NULL,
    failure          TEXT,
    platform_id      TEXT,
    sent_at          TIMESTAMPTZ,
    deleted_at       TIMESTAMPTZ
);
CREATE INDEX outbox_pending ON outbox (channel, position) WHERE state = 'pending';
CREATE INDEX outbox_spoken ON outbox (channel, position) WHERE kind = 'answer' AND state <> 'failed' AND deleted_at IS NULL;
CREATE INDEX outbox_platform ON outbox (platform_id) WHERE platform_id IS NOT NULL;
CREATE INDEX outbox_cause ON outbox (cause);

CREATE TABLE asks (
    id         TEXT PRIMARY KEY,
    message    TEXT NOT NULL,
    chain      TEXT NOT NULL,
    channel    TEXT NOT NULL,
    asker      TEXT NOT NULL,
    askee      TEXT NOT NULL,
    question   TEXT NOT NULL,
    path       TEXT NOT NULL,
    state      TEXT NOT NULL,
    answer     TEXT,
    asked_at   TIMESTAMPTZ NOT NULL,
    deadline   TIMESTAMPTZ NOT NULL,
    settled_at TIMESTAMPTZ
);
CREATE INDEX asks_open ON asks (asked_at) WHERE state IN ('asked', 'expired');
CREATE INDEX asks_message ON asks (message);
CREATE INDEX asks_chain ON asks (chain);
CREATE INDEX asks_asked ON asks (asked_at);
