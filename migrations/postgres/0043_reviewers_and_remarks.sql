-- Who reviews the result of an item, if somebody was named. As JSON.
ALTER TABLE work_items ADD COLUMN reviewer TEXT;

-- Which message a remark to a board meeting stands in, so that one message is one remark.
ALTER TABLE board_comments ADD COLUMN message TEXT;
CREATE UNIQUE INDEX board_remarks_by_message ON board_comments (meeting, message) WHERE message IS NOT NULL;
