-- What happened: who did what to what, and who may see it. A row is written in the transaction of the change and never changed.
CREATE TABLE events (
    -- The newest row is never deleted, so no position is used twice.
    position   INTEGER PRIMARY KEY,
    at         TEXT NOT NULL,
    -- What the subject is: `message`, `item`, `meeting`, …
    topic      TEXT NOT NULL,
    -- Its id or name.
    subject    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    -- `persona:` and a slug, or `person:` and an account, which is empty where only the name is known. Null: the program.
    actor      TEXT,
    actor_name TEXT,
    -- `team`, `channel` or `operators`. The channel is set for the second.
    audience   TEXT NOT NULL,
    channel    TEXT,
    payload    TEXT NOT NULL
) STRICT;
CREATE INDEX events_subject ON events (subject);
-- Chat writes most rows. They are in one index only.
CREATE INDEX events_items ON events (position) WHERE topic = 'item';
CREATE INDEX events_items_at ON events (at) WHERE topic = 'item';

INSERT INTO events (at, topic, subject, kind, audience, payload)
SELECT at, 'item', item, to_status, 'team', json_object('from', from_status, 'note', note) FROM work_events ORDER BY position;
DROP TABLE work_events;
