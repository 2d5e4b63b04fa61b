-- What personas noticed when they looked back at missions, and what people think of it.
CREATE TABLE insights (
    id         TEXT PRIMARY KEY,
    subject    TEXT NOT NULL,
    title      TEXT NOT NULL,
    persona    TEXT NOT NULL,
    whom       TEXT,
    kind       TEXT NOT NULL,
    text       TEXT NOT NULL,
    actionable BOOLEAN NOT NULL,
    supported  BOOLEAN NOT NULL,
    private_to TEXT,
    item       TEXT,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX insights_created ON insights (created_at);
CREATE TABLE insight_ratings (
    insight    TEXT NOT NULL,
    account    TEXT NOT NULL,
    useful     BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (insight, account)
);
CREATE INDEX insight_ratings_created ON insight_ratings (created_at);
