-- The job that runs a turn. A turn of an earlier program gets one at the next start.
ALTER TABLE turns ADD COLUMN job BIGINT;
