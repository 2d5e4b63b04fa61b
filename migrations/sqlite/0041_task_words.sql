-- What a person wrote when they asked for it, word for word. Empty: it was not asked for in a message.
ALTER TABLE work_items ADD COLUMN said TEXT NOT NULL DEFAULT '';
-- What was said before that, and what the persona that took it down adds. It may quote anybody.
ALTER TABLE work_items ADD COLUMN background TEXT NOT NULL DEFAULT '';
