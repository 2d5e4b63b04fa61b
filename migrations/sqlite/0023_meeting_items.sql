-- The items that meetings decided on, the newest last: news without a channel of their own go where the team met last.
CREATE INDEX work_items_met ON work_items (created_at) WHERE substr(origin, 3, 7) = 'meeting' AND channel IS NOT NULL AND private_to IS NULL;
