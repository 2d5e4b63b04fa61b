-- Most memories are what people say. These replace nothing, are not compared word by word, are not listed by their significance, and are found by
-- their messages: four indexes less to write for each.
DROP INDEX memories_source;
DROP INDEX memories_replaces;
CREATE INDEX memories_replaces ON memories (replaces) WHERE replaces IS NOT NULL;
DROP INDEX memories_essence;
CREATE INDEX memories_essence ON memories (essence) WHERE ended_at IS NULL AND kind IN ('lesson', 'fact');
DROP INDEX memories_told;
-- SQLite takes it for either kind only where both are compared like this.
CREATE INDEX memories_told ON memories (kind, significance, created_at) WHERE ended_at IS NULL AND (kind = 'lesson' OR kind = 'fact');
