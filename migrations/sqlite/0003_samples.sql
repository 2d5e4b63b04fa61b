-- Numbers of feeds over time. `feed` is the key of a declaration, not its name; `at` is the data's own time.

CREATE TABLE samples (
    feed   TEXT NOT NULL,
    name   TEXT NOT NULL,
    unit   TEXT NOT NULL,
    at     TEXT NOT NULL,
    number REAL NOT NULL,
    PRIMARY KEY (feed, name, at)
) STRICT;
CREATE INDEX samples_at ON samples (at);
