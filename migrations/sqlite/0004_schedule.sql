-- Jobs that people added, which jobs are paused, how far each timetable was looked through, and what fired.

CREATE TABLE jobs (
    name     TEXT PRIMARY KEY,
    job      TEXT NOT NULL,
    added_by TEXT NOT NULL,
    added_at TEXT NOT NULL
) STRICT;

CREATE TABLE job_pauses (
    job TEXT PRIMARY KEY,
    by  TEXT NOT NULL,
    at  TEXT NOT NULL
) STRICT;

-- By timetable too: a job whose times were changed has missed none of the new ones.
CREATE TABLE considered (
    job       TEXT NOT NULL,
    timetable TEXT NOT NULL,
    until     TEXT NOT NULL,
    PRIMARY KEY (job, timetable)
) STRICT;

-- Whoever inserts the row of an instant is the one who fires it.
CREATE TABLE firings (
    job         TEXT NOT NULL,
    instant     TEXT NOT NULL,
    action      TEXT NOT NULL,
    state       TEXT NOT NULL,
    note        TEXT,
    passed_over INTEGER NOT NULL,
    at          TEXT NOT NULL,
    PRIMARY KEY (job, instant)
) STRICT;
CREATE INDEX firings_open ON firings (instant, job) WHERE state = 'open';
