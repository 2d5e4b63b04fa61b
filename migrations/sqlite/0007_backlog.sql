-- Working off the backlog: who does what, what came of it, and what a person has to allow.

-- How it is carried out and by which persona; null until the planner has looked at it.
ALTER TABLE work_items ADD COLUMN execution TEXT;
ALTER TABLE work_items ADD COLUMN persona TEXT;
-- Where people hear of it.
ALTER TABLE work_items ADD COLUMN channel TEXT;
-- Why it waits, and until when it is not claimed.
ALTER TABLE work_items ADD COLUMN wait TEXT;
ALTER TABLE work_items ADD COLUMN not_before TEXT;
ALTER TABLE work_items ADD COLUMN run INTEGER NOT NULL DEFAULT 0;
-- What the worker says it made, stored before it is verified; and what was proven.
ALTER TABLE work_items ADD COLUMN product TEXT;
ALTER TABLE work_items ADD COLUMN evidence TEXT NOT NULL DEFAULT '[]';
-- The worker is null while nobody works on it. Each claim has a higher token; the beat counts the worker's signs of life.
ALTER TABLE work_items ADD COLUMN lease_worker TEXT;
ALTER TABLE work_items ADD COLUMN lease_token INTEGER NOT NULL DEFAULT 0;
ALTER TABLE work_items ADD COLUMN lease_beat INTEGER NOT NULL DEFAULT 0;
-- How often its worker died over it.
ALTER TABLE work_items ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
-- How often it was sent back by whoever judged it.
ALTER TABLE work_items ADD COLUMN rejections INTEGER NOT NULL DEFAULT 0;
-- Its place in the order of work, as the planner set it: a text that sorts as the places do, first by urgency. Until then with the least urgent.
ALTER TABLE work_items ADD COLUMN rank TEXT NOT NULL DEFAULT '3';
-- By persona: who is busy is passed over in one step, however much waits for them. One index for all statuses, because SQLite would rather
-- use one on the status alone than a partial one.
DROP INDEX work_items_status;
CREATE INDEX work_items_status ON work_items (status, persona, rank, id);
-- A persona does one thing at a time, whatever a program may think.
CREATE UNIQUE INDEX work_items_busy ON work_items (persona) WHERE status = 'in_progress';
-- People name an item by the end of its id.
CREATE INDEX work_items_short ON work_items (substr(id, length(id) - 5));

-- Why it came about, where that is not plain.
ALTER TABLE work_events ADD COLUMN note TEXT;

-- What was done in a run, step by step.
CREATE TABLE work_journal (
    item     TEXT NOT NULL,
    run      INTEGER NOT NULL,
    position INTEGER NOT NULL,
    entry    TEXT NOT NULL,
    at       TEXT NOT NULL,
    PRIMARY KEY (item, run, position)
) STRICT;

CREATE TABLE approvals (
    id          TEXT PRIMARY KEY,
    item        TEXT NOT NULL,
    run         INTEGER NOT NULL,
    tool        TEXT NOT NULL,
    arguments   TEXT NOT NULL,
    -- Of the tool and its arguments: it is given for one call.
    fingerprint TEXT NOT NULL,
    risk        TEXT NOT NULL,
    state       TEXT NOT NULL,
    decided_by  TEXT,
    asked_at    TEXT NOT NULL,
    decided_at  TEXT,
    UNIQUE (item, run, fingerprint)
) STRICT;

-- By how much people raised a limit, in what the limit is in. `whose` is a persona or an item, empty for the whole team; `day` is empty for
-- what is no limit of a day.
CREATE TABLE limit_raises (
    name   TEXT NOT NULL,
    whose  TEXT NOT NULL,
    day    TEXT NOT NULL,
    amount INTEGER NOT NULL,
    by     TEXT NOT NULL,
    at     TEXT NOT NULL
) STRICT;
CREATE INDEX limit_raises_whose ON limit_raises (whose, day);
INSERT INTO limit_raises (name, whose, day, amount, by, at) SELECT 'day', '', day, amount, by, at FROM raises;
DROP TABLE raises;

-- All lessons by the time they were learnt, ended ones too.
CREATE INDEX memories_learnt ON memories (kind, created_at, id);
