-- Who said something or posted a document, in which channel, and which part of the document it is. JSON, for conversations and documents.
ALTER TABLE memories ADD COLUMN origin TEXT;
-- The message that it comes from.
ALTER TABLE memories ADD COLUMN message TEXT;
UPDATE memories SET message = source::jsonb ->> 'message' WHERE source LIKE '{"message":%';
CREATE INDEX memories_message ON memories (message) WHERE message IS NOT NULL;

-- When it was last found for an answer or a prompt.
ALTER TABLE memories ADD COLUMN used_at TIMESTAMPTZ;

-- The vector of a sentence model, and the model. Null: to be made, if there is a model.
ALTER TABLE memories ADD COLUMN meaning BYTEA;
ALTER TABLE memories ADD COLUMN meaning_model TEXT;
CREATE INDEX memories_meaning ON memories (meaning_model) WHERE ended_at IS NULL;

-- A number for each row that never changes.
ALTER TABLE memories ADD COLUMN number BIGINT GENERATED ALWAYS AS IDENTITY;
CREATE UNIQUE INDEX memories_number ON memories (number);

-- The transaction that changed it last, so that a process reads only what has changed since it last looked.
ALTER TABLE memories ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
CREATE INDEX memories_revision ON memories (revision);
CREATE FUNCTION revise_memory() RETURNS TRIGGER AS $$
BEGIN
    NEW.revision := pg_current_xact_id()::text::bigint;
    RETURN NEW;
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER memories_revised BEFORE INSERT OR UPDATE ON memories FOR EACH ROW EXECUTE FUNCTION revise_memory();

-- Candidates come from the index of words and from vectors now.
DROP INDEX memories_pool;
