-- What personas noticed when they looked back at missions, and what people think of it.
CREATE TABLE insights (
    id         TEXT PRIMARY KEY,
    subject    TEXT NOT NULL,
    title      TEXT NOT NULL,
    persona    TEXT NOT NULL,
    whom       TEXT,
    kind       TEXT NOT NULL,
    text       TEXT NOT NULL,
    actionable INTEGER NOT NULL,
    supported  INTEGER NOT NULL,
    private_to TEXT,
    item       TEXT,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX insights_created ON insights (created_at);
CREATE TABLE insight_ratings (
    insight    TEXT NOT NULL,
    account    TEXT NOT NULL,
    useful     INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (insight, account)
) STRICT;
CREATE INDEX insight_ratings_created ON insight_ratings (created_at);
