-- Meetings are run by jobs. An open meeting of an earlier program gets its job here.
INSERT INTO jobs (kind, unique_key, payload, state, run_at, place_from, created_at)
SELECT 'meeting.run', 'meeting.run:' || id, json_object('meeting', id), 'ready', '1970-01-01T00:00:00+00:00', '1970-01-01T00:00:00+00:00', called_at
FROM meetings WHERE ended_at IS NULL;
