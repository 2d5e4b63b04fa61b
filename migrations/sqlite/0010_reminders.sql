-- What people are to be told at a time. Each round of a reminder has a job.
CREATE TABLE reminders (
    id         TEXT PRIMARY KEY,
    channel    TEXT NOT NULL,
    -- The channel is a conversation between a person and a persona.
    private    INTEGER NOT NULL,
    -- The persona that tells.
    persona    TEXT NOT NULL,
    what       TEXT NOT NULL,
    whom       TEXT NOT NULL,
    -- Null: the command line.
    asked_by   TEXT,
    due        TEXT NOT NULL,
    -- A timetable; null for one that is told once.
    repeat     TEXT,
    zone       TEXT NOT NULL,
    state      TEXT NOT NULL,
    -- Rises with each new time.
    round      INTEGER NOT NULL,
    -- Which round of a repeated reminder this one tells once more, so that two presses of a button make one of it.
    again_of   TEXT UNIQUE,
    asked_at   TEXT NOT NULL,
    -- Since when nothing more is to be told. Long after it the row is deleted.
    settled_at TEXT
) STRICT;
CREATE INDEX reminders_state ON reminders (state, due);
CREATE INDEX reminders_settled ON reminders (settled_at) WHERE settled_at IS NOT NULL;
