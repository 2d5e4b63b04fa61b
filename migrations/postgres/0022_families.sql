-- Items that are connected as parts and needs have the same family. It has the id of one of them, and is locked while one of them is changed.
ALTER TABLE work_items ADD COLUMN family TEXT NOT NULL DEFAULT '';
-- Connected items from before are one family.
UPDATE work_items SET family = id
WHERE parent IS NULL
    AND NOT EXISTS (SELECT 1 FROM work_items parts WHERE parts.parent = work_items.id)
    AND NOT EXISTS (SELECT 1 FROM work_dependencies WHERE item = work_items.id OR needs = work_items.id);
CREATE INDEX work_items_family ON work_items (family);
