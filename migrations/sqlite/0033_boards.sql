-- Board meetings: what belongs to one beside its meeting, and what was said in it.
CREATE TABLE boards (
    meeting      TEXT PRIMARY KEY,
    documents    TEXT NOT NULL,
    extra_rounds INTEGER NOT NULL DEFAULT 0,
    remarks      INTEGER NOT NULL DEFAULT 0,
    stopped_by   TEXT,
    ending       TEXT,
    document     TEXT,
    created_at   TEXT NOT NULL
) STRICT;
CREATE TABLE board_comments (
    meeting    TEXT NOT NULL,
    id         TEXT NOT NULL,
    round      INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    who        TEXT NOT NULL,
    name       TEXT,
    side       TEXT,
    kind       TEXT NOT NULL,
    text       TEXT NOT NULL,
    answers    TEXT,
    novelty    REAL NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (meeting, id)
) STRICT;
-- A channel may have one open meeting of each kind: a long board meeting does not keep the standup from its hour.
DROP INDEX meetings_open;
CREATE UNIQUE INDEX meetings_open ON meetings (channel, kind) WHERE ended_at IS NULL;
