-- What a message has taught goes with the message.
CREATE INDEX memories_source ON memories (source);

-- What belongs to a message besides its text: reactions of people, and the titles that the platform found behind its links.
CREATE TABLE annotations (
    message TEXT NOT NULL,
    channel TEXT NOT NULL,
    kind    TEXT NOT NULL,
    -- Of a reaction: whose it is, and the emoji. Of a link: its address.
    key     TEXT NOT NULL,
    -- The person's name; empty for a link.
    by      TEXT NOT NULL,
    text    TEXT NOT NULL,
    at      TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (message, kind, key)
);
CREATE INDEX annotations_channel ON annotations (channel, at);
CREATE INDEX annotations_at ON annotations (at);

-- The bytes of a picture, for models that see. They are kept for some days.
ALTER TABLE files ADD COLUMN picture BYTEA;
CREATE INDEX files_pictures ON files (at) WHERE picture IS NOT NULL;
