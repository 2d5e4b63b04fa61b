-- What holds the team back: halts, the guard's records, notices already given, money.

CREATE TABLE halts (
    scope TEXT PRIMARY KEY,
    by    TEXT NOT NULL,
    at    TIMESTAMPTZ NOT NULL
);

CREATE TABLE blocks (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel  TEXT NOT NULL,
    chain    TEXT NOT NULL,
    sender   TEXT NOT NULL,
    receiver TEXT NOT NULL,
    block    TEXT NOT NULL,
    at       TIMESTAMPTZ NOT NULL
);
CREATE INDEX blocks_chain ON blocks (chain);
CREATE INDEX blocks_at ON blocks (at);

-- `first` sorts before `second`, so that a pair has one row whoever spoke.
CREATE TABLE cooldowns (
    channel TEXT NOT NULL,
    first   TEXT NOT NULL,
    second  TEXT NOT NULL,
    until   TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (channel, first, second)
);

CREATE TABLE notices (
    key TEXT PRIMARY KEY,
    at  TIMESTAMPTZ NOT NULL
);

CREATE TABLE ledger (
    id              TEXT PRIMARY KEY,
    at              TIMESTAMPTZ NOT NULL,
    day             TEXT NOT NULL,
    -- Null for callers that are no persona.
    persona         TEXT,
    purpose         TEXT NOT NULL,
    subject         TEXT NOT NULL,
    provider        TEXT NOT NULL,
    model           TEXT NOT NULL,
    tier            TEXT NOT NULL,
    reserved_tokens BIGINT NOT NULL,
    reserved_cost   BIGINT NOT NULL,
    input_tokens    BIGINT NOT NULL,
    cached_tokens   BIGINT NOT NULL,
    output_tokens   BIGINT NOT NULL,
    cost            BIGINT NOT NULL,
    latency_ms      BIGINT,
    outcome         TEXT NOT NULL
);
CREATE INDEX ledger_at ON ledger (at);
CREATE INDEX ledger_subject ON ledger (subject);

-- Running sums of the ledger, so that a reservation need not add up a day's calls. An empty persona is none.
CREATE TABLE spending (
    day     TEXT NOT NULL,
    persona TEXT NOT NULL,
    cost    BIGINT NOT NULL,
    tokens  BIGINT NOT NULL,
    PRIMARY KEY (day, persona)
);

CREATE TABLE raises (
    day    TEXT NOT NULL,
    amount BIGINT NOT NULL,
    by     TEXT NOT NULL,
    at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX raises_day ON raises (day);
