-- Numbers of feeds over time. `feed` is the key of a declaration, not its name; `at` is the data's own time.

CREATE TABLE samples (
    feed   TEXT NOT NULL,
    name   TEXT NOT NULL,
    unit   TEXT NOT NULL,
    at     TIMESTAMPTZ NOT NULL,
    number DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (feed, name, at)
);
CREATE INDEX samples_at ON samples (at);
