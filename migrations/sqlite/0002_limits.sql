-- What holds the team back: halts, the guard's records, notices already given, money.

CREATE TABLE halts (
    scope TEXT PRIMARY KEY,
    by    TEXT NOT NULL,
    at    TEXT NOT NULL
) STRICT;

CREATE TABLE blocks (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    channel  TEXT NOT NULL,
    chain    TEXT NOT NULL,
    sender   TEXT NOT NULL,
    receiver TEXT NOT NULL,
    block    TEXT NOT NULL,
    at       TEXT NOT NULL
) STRICT;
CREATE INDEX blocks_chain ON blocks (chain);
CREATE INDEX blocks_at ON blocks (at);

-- `first` sorts before `second`, so that a pair has one row whoever spoke.
CREATE TABLE cooldowns (
    channel TEXT NOT NULL,
    first   TEXT NOT NULL,
    second  TEXT NOT NULL,
    until   TEXT NOT NULL,
    PRIMARY KEY (channel, first, second)
) STRICT;

CREATE TABLE notices (
    key TEXT PRIMARY KEY,
    at  TEXT NOT NULL
) STRICT;

CREATE TABLE ledger (
    id              TEXT PRIMARY KEY,
    at              TEXT NOT NULL,
    day             TEXT NOT NULL,
    -- Null for callers that are no persona.
    persona         TEXT,
    purpose         TEXT NOT NULL,
    subject         TEXT NOT NULL,
    provider        TEXT NOT NULL,
    model           TEXT NOT NULL,
    tier            TEXT NOT NULL,
    reserved_tokens INTEGER NOT NULL,
    reserved_cost   INTEGER NOT NULL,
    input_tokens    INTEGER NOT NULL,
    cached_tokens   INTEGER NOT NULL,
    output_tokens   INTEGER NOT NULL,
    cost            INTEGER NOT NULL,
    latency_ms      INTEGER,
    outcome         TEXT NOT NULL
) STRICT;
CREATE INDEX ledger_at ON ledger (at);
CREATE INDEX ledger_subject ON ledger (subject);

-- Running sums of the ledger, so that a reservation need not add up a day's calls. An empty persona is none.
CREATE TABLE spending (
    day     TEXT NOT NULL,
    persona TEXT NOT NULL,
    cost    INTEGER NOT NULL,
    tokens  INTEGER NOT NULL,
    PRIMARY KEY (day, persona)
) STRICT;

CREATE TABLE raises (
    day    TEXT NOT NULL,
    amount INTEGER NOT NULL,
    by     TEXT NOT NULL,
    at     TEXT NOT NULL
) STRICT;
CREATE INDEX raises_day ON raises (day);
