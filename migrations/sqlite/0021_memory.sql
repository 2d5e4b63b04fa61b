-- Who can read a channel. Null: not known, which counts as private.
ALTER TABLE channels ADD COLUMN private INTEGER;
UPDATE channels SET private = 1 WHERE place = '"direct"';

-- The private place that an item was asked for in: what is learnt from it stays there. Null: the whole team.
ALTER TABLE work_items ADD COLUMN private_to TEXT;
UPDATE work_items SET private_to = (
    SELECT inbox.channel FROM inbox
    WHERE inbox.id = json_extract(work_items.origin, '$.person.message') AND json_extract(inbox.message, '$.channel.place') = 'direct')
WHERE json_valid(origin);
UPDATE work_items SET private_to = channel
WHERE private_to IS NULL AND channel IN (SELECT id FROM channels WHERE place = '"direct"');

-- Made again, because the index of words needs a number for each row that never changes.
CREATE TABLE memories_numbered (
    number       INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    kind         TEXT NOT NULL,
    -- Null for the whole team.
    persona      TEXT,
    text         TEXT NOT NULL,
    tags         TEXT NOT NULL,
    significance REAL NOT NULL,
    source       TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    ended_at     TEXT,
    -- The only place where it may be told: a direct conversation, a private channel, a thread of one. Null: everywhere.
    place        TEXT,
    -- The person who taught it.
    taught_by    TEXT,
    -- It comes from text from outside, and is not told before a person confirms it.
    held         INTEGER NOT NULL DEFAULT 0,
    -- The older memory that it replaces.
    replaces     TEXT,
    -- Who had it forgotten. Its text is gone then.
    forgotten_by TEXT,
    -- Derived from the text: the id for people, the words without order, the words to search, and the vector. Null: to be derived.
    short        TEXT,
    essence      TEXT,
    words        TEXT,
    vector       BLOB
) STRICT;
INSERT INTO memories_numbered (id, kind, persona, text, tags, significance, source, created_at, ended_at)
SELECT id, kind, persona, text, tags, significance, source, created_at, ended_at FROM memories ORDER BY created_at, id;
DROP TABLE memories;
ALTER TABLE memories_numbered RENAME TO memories;
CREATE INDEX memories_told ON memories (kind, significance, created_at) WHERE ended_at IS NULL;
CREATE INDEX memories_learnt ON memories (kind, created_at, id);
CREATE INDEX memories_short ON memories (short);
CREATE INDEX memories_essence ON memories (essence) WHERE ended_at IS NULL;
CREATE INDEX memories_replaces ON memories (replaces);
CREATE INDEX memories_underived ON memories (id) WHERE words IS NULL;
CREATE INDEX memories_pool ON memories (significance, created_at, id) WHERE ended_at IS NULL;

-- What was noted in a direct conversation stays there from now on. Everything else was told to the whole team so far, and whether its channel was
-- private then is not known any more, so it stays public: hiding it now would take from the team what it has known all along.
UPDATE memories SET place = (
    SELECT inbox.channel FROM inbox
    WHERE inbox.id = json_extract(memories.source, '$.message') AND json_extract(inbox.message, '$.channel.place') = 'direct')
WHERE json_valid(source);
UPDATE memories SET place = (SELECT private_to FROM work_items WHERE work_items.id = json_extract(memories.source, '$.work_item'))
WHERE place IS NULL AND json_valid(source) AND json_extract(source, '$.work_item') IS NOT NULL;
-- What an item's run concluded from text from outside waits for a person.
UPDATE memories SET held = 1 WHERE id LIKE 'learnt-%' AND tags LIKE '%"outside"%';

-- The words of memories. A deleted row leaves nothing behind.
CREATE VIRTUAL TABLE memory_words USING fts5 (words, content = 'memories', content_rowid = 'number');
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER memories_added AFTER INSERT ON memories WHEN new.words IS NOT NULL BEGIN
    INSERT INTO memory_words (rowid, words) VALUES (new.number, new.words);
END;
CREATE TRIGGER memories_changed AFTER UPDATE OF words ON memories BEGIN
    INSERT INTO memory_words (memory_words, rowid, words) SELECT 'delete', old.number, old.words WHERE old.words IS NOT NULL;
    INSERT INTO memory_words (rowid, words) SELECT new.number, new.words WHERE new.words IS NOT NULL;
END;
CREATE TRIGGER memories_removed AFTER DELETE ON memories WHEN old.words IS NOT NULL BEGIN
    INSERT INTO memory_words (memory_words, rowid, words) VALUES ('delete', old.number, old.words);
END;
