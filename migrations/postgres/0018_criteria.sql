-- Whether the planner drafted an item's criteria. Nobody gave these, so another title gets others.
ALTER TABLE work_items ADD COLUMN criteria_drafted BOOLEAN NOT NULL DEFAULT FALSE;
-- Whether a parent has an open, done or failed child is found without reading all of them.
DROP INDEX work_items_parent;
CREATE INDEX work_items_parent ON work_items (parent, status) WHERE parent IS NOT NULL;
