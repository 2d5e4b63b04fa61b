-- What people want done that takes several steps. Each has a work item of the same id once it is planned; its steps are the parts of that.
CREATE TABLE missions (
    id            TEXT PRIMARY KEY,
    status        TEXT NOT NULL,
    title         TEXT NOT NULL,
    -- What the person wrote, and the parts of the documents.
    request       TEXT NOT NULL,
    directive     TEXT NOT NULL,
    -- Null: the command line.
    asked_by      TEXT,
    asked_by_name TEXT,
    -- Where it was asked for and is delivered, and the message.
    channel       TEXT NOT NULL,
    message       TEXT,
    private_to    TEXT,
    -- The message of the outbox on which its thread hangs; null where it was asked for in a thread.
    opening       TEXT,
    plan          TEXT,
    -- Why it is as it is, if that is not obvious.
    why           TEXT,
    replans       INTEGER NOT NULL,
    -- The progress that was posted last.
    shown         TEXT,
    shown_at      TEXT,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL
) STRICT;
CREATE INDEX missions_updated ON missions (updated_at);
CREATE INDEX missions_opening ON missions (opening) WHERE opening IS NOT NULL;
CREATE INDEX missions_channel ON missions (channel, updated_at) WHERE opening IS NULL;
