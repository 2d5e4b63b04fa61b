-- Jobs that people added, which jobs are paused, how far each timetable was looked through, and what fired.

CREATE TABLE jobs (
    name     TEXT PRIMARY KEY,
    job      TEXT NOT NULL,
    added_by TEXT NOT NULL,
    added_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE job_pauses (
    job TEXT PRIMARY KEY,
    by  TEXT NOT NULL,
    at  TIMESTAMPTZ NOT NULL
);

-- By timetable too: a job whose times were changed has missed none of the new ones.
CREATE TABLE considered (
    job       TEXT NOT NULL,
    timetable TEXT NOT NULL,
    until     TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (job, timetable)
);

-- Whoever inserts the row of an instant is the one who fires it.
CREATE TABLE firings (
    job         TEXT NOT NULL,
    instant     TIMESTAMPTZ NOT NULL,
    action      TEXT NOT NULL,
    state       TEXT NOT NULL,
    note        TEXT,
    passed_over BIGINT NOT NULL,
    at          TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (job, instant)
);
CREATE INDEX firings_open ON firings (instant, job) WHERE state = 'open';
