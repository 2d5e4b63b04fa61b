-- What somebody other than its author has judged of a result, one row for each time.
CREATE TABLE reviews (
    item          TEXT NOT NULL,
    -- From 1.
    number        BIGINT NOT NULL,
    -- The run whose result was judged, and the persona that made it.
    run           BIGINT NOT NULL,
    author        TEXT,
    -- The kind of work on which a rejection teaches its author something. Null: it gives no reason, or was asked for in private.
    skill         TEXT,
    -- A persona, or a person: without an account at the command line and on the kanban page.
    reviewer      TEXT NOT NULL,
    reviewer_name TEXT,
    accepted      BOOLEAN NOT NULL,
    note          TEXT NOT NULL,
    -- What was found of each criterion, with its place.
    findings      TEXT NOT NULL,
    -- From 1 to 5. Null: not given.
    depth         BIGINT,
    accuracy      BIGINT,
    actionability BIGINT,
    completeness  BIGINT,
    -- The amendment that was drafted from it.
    amendment     TEXT,
    at            TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (item, number)
);
CREATE INDEX reviews_rejected ON reviews (author, skill) WHERE amendment IS NULL AND NOT accepted;
-- What personas are told to do differently on a kind of work, because results of theirs were rejected. The newest that is used counts.
CREATE TABLE amendments (
    id               TEXT PRIMARY KEY,
    persona          TEXT NOT NULL,
    skill            TEXT NOT NULL,
    -- From 1 for each persona and kind of work.
    version          BIGINT NOT NULL,
    status           TEXT NOT NULL,
    -- Why the results were rejected.
    reasons          TEXT NOT NULL,
    -- Null until it is drafted, and the text that it replaces.
    text             TEXT,
    replaces         TEXT,
    -- Why it could not be drafted.
    why              TEXT,
    -- Accounts. Null: nobody yet, or somebody at the command line.
    decided_by       TEXT,
    decided_by_name  TEXT,
    decided_at       TIMESTAMPTZ,
    reverted_by      TEXT,
    reverted_by_name TEXT,
    reverted_at      TIMESTAMPTZ,
    created_at       TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX amendments_version ON amendments (persona, skill, version);
-- One at a time.
CREATE UNIQUE INDEX amendments_open ON amendments (persona, skill) WHERE status IN ('drafting', 'offered');
