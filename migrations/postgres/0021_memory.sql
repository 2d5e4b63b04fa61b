-- Who can read a channel. Null: not known, which counts as private.
ALTER TABLE channels ADD COLUMN private BOOLEAN;
UPDATE channels SET private = TRUE WHERE place = '"direct"';

-- The private place that an item was asked for in: what is learnt from it stays there. Null: the whole team.
ALTER TABLE work_items ADD COLUMN private_to TEXT;
UPDATE work_items SET private_to = (
    SELECT inbox.channel FROM inbox
    WHERE inbox.id = work_items.origin::jsonb #>> '{person,message}' AND inbox.message::jsonb #>> '{channel,place}' = 'direct')
WHERE origin LIKE '{"person":%';
UPDATE work_items SET private_to = channel
WHERE private_to IS NULL AND channel IN (SELECT id FROM channels WHERE place = '"direct"');

-- The only place where it may be told: a direct conversation, a private channel, a thread of one. Null: everywhere.
ALTER TABLE memories ADD COLUMN place TEXT;
-- The person who taught it.
ALTER TABLE memories ADD COLUMN taught_by TEXT;
-- It comes from text from outside, and is not told before a person confirms it.
ALTER TABLE memories ADD COLUMN held BOOLEAN NOT NULL DEFAULT FALSE;
-- The older memory that it replaces.
ALTER TABLE memories ADD COLUMN replaces TEXT;
-- Who had it forgotten. Its text is gone then.
ALTER TABLE memories ADD COLUMN forgotten_by TEXT;
-- Derived from the text: the id for people, the words without order, the words to search, and the vector. Null: to be derived.
ALTER TABLE memories ADD COLUMN short TEXT;
ALTER TABLE memories ADD COLUMN essence TEXT;
ALTER TABLE memories ADD COLUMN words TEXT;
ALTER TABLE memories ADD COLUMN vector BYTEA;
ALTER TABLE memories ADD COLUMN search TSVECTOR GENERATED ALWAYS AS (to_tsvector('simple', COALESCE(words, ''))) STORED;
CREATE INDEX memories_short ON memories (short);
CREATE INDEX memories_essence ON memories (essence) WHERE ended_at IS NULL;
CREATE INDEX memories_replaces ON memories (replaces);
CREATE INDEX memories_underived ON memories (id) WHERE words IS NULL;
CREATE INDEX memories_pool ON memories (significance, created_at, id) WHERE ended_at IS NULL;
CREATE INDEX memories_search ON memories USING GIN (search);

-- What was noted in a direct conversation stays there from now on. Everything else was told to the whole team so far, and whether its channel was
-- private then is not known any more, so it stays public: hiding it now would take from the team what it has known all along.
UPDATE memories SET place = (
    SELECT inbox.channel FROM inbox
    WHERE inbox.id = memories.source::jsonb ->> 'message' AND inbox.message::jsonb #>> '{channel,place}' = 'direct')
WHERE source LIKE '{"message":%';
UPDATE memories SET place = (SELECT private_to FROM work_items WHERE work_items.id = memories.source::jsonb ->> 'work_item')
WHERE place IS NULL AND source LIKE '{"work_item":%';
-- What an item's run concluded from text from outside waits for a person.
UPDATE memories SET held = TRUE WHERE id LIKE 'learnt-%' AND tags LIKE '%"outside"%';
