-- What open items are about: a key for all words of a title together, and one for each word. Similar items are found by them.
CREATE TABLE work_subjects (
    key  INTEGER NOT NULL,
    item TEXT NOT NULL,
    PRIMARY KEY (key, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX work_subjects_item ON work_subjects (item);
-- What an open item added.
CREATE INDEX work_items_origin ON work_items (origin) WHERE status NOT IN ('done', 'failed', 'cancelled');
-- Whether somebody chose the kind of an item, so that an edit keeps it. The planner decides on the others again.
ALTER TABLE work_items ADD COLUMN kind_chosen INTEGER NOT NULL DEFAULT 0;
