-- What somebody other than its author has judged of a result, one row for each time.
CREATE TABLE reviews (
    item          TEXT NOT NULL,
    -- From 1.
    number        INTEGER NOT NULL,
    -- The run whose result was judged, and the persona that made it.
    run           INTEGER NOT NULL,
    author        TEXT,
    -- The kind of work on which a rejection teaches its author something. Null: it gives no reason, or was asked for in private.
    skill         TEXT,
    -- A persona, or a person: without an account at the command line and on the kanban page.
    reviewer      TEXT NOT NULL,
    reviewer_name TEXT,
    accepted      INTEGER NOT NULL,
    note          TEXT NOT NULL,
    -- What was found of each criterion, with its place.
    findings      TEXT NOT NULL,
    -- From 1 to 5. Null: not given.
    depth         INTEGER,
    accuracy      INTEGER,
    actionability INTEGER,
    completeness  INTEGER,
    -- The amendment that was drafted from it.
    amendment     TEXT,
    at            TEXT NOT NULL,
    PRIMARY KEY (item, number)
) STRICT;
CREATE INDEX reviews_rejected ON reviews (author, skill) WHERE amendment IS NULL AND NOT accepted;
