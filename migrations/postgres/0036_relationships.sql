-- Trust and tension between each two personas, as they were when they were last moved. One row for each pair, in the order of the alphabet.
CREATE TABLE relationships (
    one       TEXT NOT NULL,
    other     TEXT NOT NULL,
    -- From 0 to 1.
    trust     DOUBLE PRECISION NOT NULL,
    tension   DOUBLE PRECISION NOT NULL,
    -- In how many board meetings they ended on the same side, and on different ones.
    agreed    BIGINT NOT NULL,
    disagreed BIGINT NOT NULL,
    -- What moved it last, which of the two did it, and what it was about. Null: it was private.
    cause     TEXT NOT NULL,
    moved_by  TEXT NOT NULL,
    about     TEXT,
    moved_at  TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (one, other)
);
