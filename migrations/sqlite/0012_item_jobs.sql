-- Work items are run and reviewed by jobs.

-- The smallest goes first.
ALTER TABLE jobs ADD COLUMN priority TEXT NOT NULL DEFAULT '';
DROP INDEX jobs_queue;
CREATE INDEX jobs_queue ON jobs (queue, priority, id) WHERE finished_at IS NULL AND queue IS NOT NULL;

-- The open job of an item. An item of an earlier program gets one at the next start.
ALTER TABLE work_items ADD COLUMN job INTEGER;
-- Leases, heartbeats and crashes are those of the job, and its queue lets a persona do one thing at a time. An item whose process died is in
-- progress until its job runs again, and the persona may do another one in between.
DROP INDEX work_items_busy;
ALTER TABLE work_items DROP COLUMN lease_worker;
ALTER TABLE work_items DROP COLUMN lease_token;
ALTER TABLE work_items DROP COLUMN lease_beat;
ALTER TABLE work_items DROP COLUMN crashes;
