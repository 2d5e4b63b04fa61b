-- Who said something or posted a document, in which channel, and which part of the document it is. JSON, for conversations and documents.
ALTER TABLE memories ADD COLUMN origin TEXT;
-- The message that it comes from.
ALTER TABLE memories ADD COLUMN message TEXT;
UPDATE memories SET message = json_extract(source, '$.message') WHERE json_valid(source) AND source LIKE '{"message":%';
CREATE INDEX memories_message ON memories (message) WHERE message IS NOT NULL;

-- When it was last found for an answer or a prompt.
ALTER TABLE memories ADD COLUMN used_at TEXT;

-- The vector of a sentence model, and the model. Null: to be made, if there is a model.
ALTER TABLE memories ADD COLUMN meaning BLOB;
ALTER TABLE memories ADD COLUMN meaning_model TEXT;
CREATE INDEX memories_meaning ON memories (meaning_model) WHERE ended_at IS NULL;

-- Rises with each change, so that a process reads only what has changed since it last looked.
ALTER TABLE memories ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memories_revision ON memories (revision);
CREATE TABLE memory_revision (value INTEGER NOT NULL) STRICT;
INSERT INTO memory_revision (value) VALUES (0);
CREATE TRIGGER memories_revised_by_insert AFTER INSERT ON memories BEGIN
    UPDATE memory_revision SET value = value + 1;
    UPDATE memories SET revision = (SELECT value FROM memory_revision) WHERE number = new.number;
END;
CREATE TRIGGER memories_revised_by_update
AFTER UPDATE OF kind, persona, significance, created_at, ended_at, place, held, taught_by, origin, words, vector, meaning ON memories BEGIN
    UPDATE memory_revision SET value = value + 1;
    UPDATE memories SET revision = (SELECT value FROM memory_revision) WHERE number = new.number;
END;

-- Candidates come from the index of words and from vectors now.
DROP INDEX memories_pool;
