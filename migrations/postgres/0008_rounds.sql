-- Meetings of many rounds: what a kind of meeting keeps about itself, what a meeting may cost, and pauses.

ALTER TABLE meetings ADD COLUMN payload TEXT;
-- In millionths of a dollar.
ALTER TABLE meetings ADD COLUMN budget BIGINT;
ALTER TABLE meetings ADD COLUMN paused_by TEXT;
ALTER TABLE meetings ADD COLUMN paused_at TIMESTAMPTZ;
