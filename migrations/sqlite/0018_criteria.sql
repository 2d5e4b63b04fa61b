-- Whether the planner drafted an item's criteria. Nobody gave these, so another title gets others.
ALTER TABLE work_items ADD COLUMN criteria_drafted INTEGER NOT NULL DEFAULT 0;
-- Whether a parent has an open, done or failed child is found without reading all of them.
DROP INDEX work_items_parent;
CREATE INDEX work_items_parent ON work_items (parent, status) WHERE parent IS NOT NULL;
