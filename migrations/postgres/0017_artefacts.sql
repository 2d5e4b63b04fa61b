-- What items made, with its content, and the repository that an item works in.

CREATE TABLE artefacts (
    item       TEXT NOT NULL,
    -- The run that made it. Those of the item's current run are its result.
    run        BIGINT NOT NULL,
    position   BIGINT NOT NULL,
    name       TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes      BIGINT NOT NULL,
    -- Of the content as stored, in hexadecimal.
    sha256     TEXT NOT NULL,
    content    BYTEA NOT NULL,
    PRIMARY KEY (item, run, position)
);

-- The name of a configured repository; null for none.
ALTER TABLE work_items ADD COLUMN repository TEXT;
