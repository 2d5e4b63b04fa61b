-- The words of memories, apart from the memories: a question looks at thousands of rows, and of these thirty fit into a page.
SET LOCAL statement_timeout = 0;
CREATE TABLE memory_words (
    number BIGINT PRIMARY KEY,
    search TSVECTOR NOT NULL
);
INSERT INTO memory_words (number, search) SELECT number, strip(to_tsvector('simple', words)) FROM memories WHERE words <> '';
-- Without a list of pending entries, through which each question would have to go.
CREATE INDEX memory_words_search ON memory_words USING GIN (search) WITH (fastupdate = off);
ALTER TABLE memories DROP COLUMN search;

CREATE FUNCTION index_memory() RETURNS TRIGGER AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM memory_words WHERE number = OLD.number;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO memory_words (number, search) SELECT NEW.number, strip(to_tsvector('simple', NEW.words)) WHERE NEW.words <> '';
    END IF;
    RETURN NULL;
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER memories_indexed AFTER INSERT OR UPDATE OF words OR DELETE ON memories FOR EACH ROW EXECUTE FUNCTION index_memory();
