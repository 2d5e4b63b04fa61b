-- The kanban page shows what changed last of each status. Without this index, that sorts everything that was ever done.
CREATE INDEX work_items_changed ON work_items (status, updated_at, id);
-- The missions that changed last, for the same page.
CREATE INDEX work_items_missions ON work_items (updated_at, id) WHERE kind = 'mission';
-- The numbers of lessons, which are compared before each look at them.
CREATE INDEX memories_lessons ON memories (kind, place, ended_at, held, forgotten_by) WHERE kind = 'lesson';
