-- Who was seen in which channel, under which names. One row for each person in each channel; threads count as their channel.
CREATE TABLE people (
    id      TEXT NOT NULL,
    channel TEXT NOT NULL,
    -- The channel is a conversation between a person and a persona.
    private INTEGER NOT NULL,
    name    TEXT NOT NULL,
    -- A list of other names: the display name, the account's name.
    aliases TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    PRIMARY KEY (id, channel)
) STRICT;
INSERT INTO people (id, channel, private, name, aliases, seen_at)
SELECT json_extract(speaker, '$.person.id'), inbox.channel, COALESCE(channels.place = '"direct"', 0), json_extract(speaker, '$.person.name'), '[]',
    MAX(inbox.claimed_at)
FROM inbox LEFT JOIN channels ON channels.id = inbox.channel
WHERE speaker IS NOT NULL AND json_valid(speaker) AND json_extract(speaker, '$.person.id') IS NOT NULL
GROUP BY 1, 2;

-- When an item is to be done.
ALTER TABLE work_items ADD COLUMN due TEXT;

-- What people were asked or told about an item, and how often they were reminded of it.
CREATE TABLE item_requests (
    item      TEXT NOT NULL,
    run       INTEGER NOT NULL,
    -- The account of the person.
    person    TEXT NOT NULL,
    asked_at  TEXT NOT NULL,
    reminders INTEGER NOT NULL DEFAULT 0,
    -- When the last reminder was sent.
    reminded_at TEXT,
    -- The files that came with the answer, as a list of the platform's ids.
    files     TEXT,
    -- Since when the item does not wait for this person any more.
    closed_at TEXT,
    PRIMARY KEY (item, run, person)
) STRICT;
CREATE INDEX item_requests_open ON item_requests (person) WHERE closed_at IS NULL;
