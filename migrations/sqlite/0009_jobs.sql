-- Durable jobs. What was called a job so far is a schedule.
ALTER TABLE jobs RENAME TO schedules;
ALTER TABLE job_pauses RENAME TO schedule_pauses;

CREATE TABLE jobs (
    -- Jobs are run in the order of their ids. An id is never used again, because the newest job is never deleted.
    id          INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL,
    -- Jobs of one queue run one at a time; null for a job that waits for nobody.
    queue       TEXT,
    -- Two open jobs never have the same one.
    unique_key  TEXT,
    payload     TEXT NOT NULL,
    state       TEXT NOT NULL,
    run_at      TEXT NOT NULL,
    -- Since when it has its place in its queue. A job for later, and one that sleeps, lets others go first.
    place_from  TEXT NOT NULL,
    -- It was woken while it ran: it does not sleep longer than this.
    wake_at     TEXT,
    attempts    INTEGER NOT NULL DEFAULT 0,
    -- How often its process died while it ran alone, and how often while it ran beside others.
    crashes     INTEGER NOT NULL DEFAULT 0,
    suspicions  INTEGER NOT NULL DEFAULT 0,
    -- Rises with each claim.
    token       INTEGER NOT NULL DEFAULT 0,
    -- The worker that runs it.
    holder      TEXT,
    error       TEXT,
    created_at  TEXT NOT NULL,
    finished_at TEXT
) STRICT;
CREATE INDEX jobs_queue ON jobs (queue, id) WHERE finished_at IS NULL AND queue IS NOT NULL;
-- Each job that is ready stands in one of these two.
CREATE INDEX jobs_ready ON jobs (kind, run_at, id) WHERE state = 'ready' AND queue IS NULL;
CREATE INDEX jobs_ready_in_queue ON jobs (run_at) WHERE state = 'ready' AND queue IS NOT NULL;
CREATE INDEX jobs_suspect ON jobs (id) WHERE state = 'ready' AND suspicions > 0;
-- One at a time in each queue, whatever a program may think.
CREATE UNIQUE INDEX jobs_running ON jobs (queue) WHERE state = 'running';
CREATE UNIQUE INDEX jobs_unique ON jobs (unique_key) WHERE finished_at IS NULL AND unique_key IS NOT NULL;

-- What each step of a job gave, so that it is not done again.
CREATE TABLE job_steps (
    job    INTEGER NOT NULL,
    name   TEXT NOT NULL,
    result TEXT NOT NULL,
    -- The claim under which it was done.
    token  INTEGER NOT NULL,
    at     TEXT NOT NULL,
    PRIMARY KEY (job, name)
) STRICT, WITHOUT ROWID;

-- The processes that run jobs. One whose beat stands still is dead.
CREATE TABLE job_workers (
    id         TEXT PRIMARY KEY,
    beat       INTEGER NOT NULL,
    started_at TEXT NOT NULL
) STRICT;
