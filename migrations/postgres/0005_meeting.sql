-- Meetings and what they leave behind: seats, reports, predictions, ratings.

CREATE TABLE meetings (
    id          TEXT PRIMARY KEY,
    kind        TEXT NOT NULL,
    channel     TEXT NOT NULL,
    -- The channel with its name and place.
    place       TEXT NOT NULL,
    day         TEXT NOT NULL,
    facilitator TEXT NOT NULL,
    called_by   TEXT NOT NULL,
    called_at   TIMESTAMPTZ NOT NULL,
    deadline    TIMESTAMPTZ NOT NULL,
    state       TEXT NOT NULL,
    wrap        BOOLEAN NOT NULL,
    closings    BIGINT NOT NULL,
    reason      TEXT,
    -- When something last happened in it.
    updated_at  TIMESTAMPTZ NOT NULL,
    ended_at    TIMESTAMPTZ,
    -- What all participants have in front of them.
    material    TEXT
);
-- One at a time in a channel.
CREATE UNIQUE INDEX meetings_open ON meetings (channel) WHERE ended_at IS NULL;
CREATE INDEX meetings_called ON meetings (called_at);
CREATE INDEX meetings_held ON meetings (kind, called_at) WHERE state = 'done';

CREATE TABLE seats (
    meeting      TEXT NOT NULL,
    round        BIGINT NOT NULL,
    position     BIGINT NOT NULL,
    -- `persona:` and a slug, or `person:` and an account.
    who          TEXT NOT NULL,
    -- Null for a persona.
    name         TEXT,
    state        TEXT NOT NULL,
    attempts     BIGINT NOT NULL,
    contribution TEXT,
    -- Of what was said, for the figures.
    words        BIGINT NOT NULL,
    reason       TEXT,
    started_at   TIMESTAMPTZ,
    ended_at     TIMESTAMPTZ,
    PRIMARY KEY (meeting, round, position)
);

CREATE TABLE reports (
    channel    TEXT NOT NULL,
    day        TEXT NOT NULL,
    revision   BIGINT NOT NULL,
    report     TEXT NOT NULL,
    -- The row of the outbox with the first revision; later ones are posted in its place.
    post       TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (channel, day)
);
CREATE INDEX reports_day ON reports (day);

CREATE TABLE predictions (
    id         TEXT PRIMARY KEY,
    channel    TEXT NOT NULL,
    day        TEXT NOT NULL,
    question   TEXT NOT NULL,
    prediction TEXT NOT NULL,
    made_at    TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    settled    TEXT,
    settled_at TIMESTAMPTZ
);
CREATE INDEX predictions_open ON predictions (expires_at) WHERE settled_at IS NULL;
CREATE INDEX predictions_made ON predictions (made_at);
CREATE INDEX predictions_day ON predictions (channel, day);

CREATE TABLE ratings (
    subject TEXT NOT NULL,
    account TEXT NOT NULL,
    -- The subject as far as its first slash: the meeting where it is an insight of one.
    about   TEXT NOT NULL,
    persona TEXT NOT NULL,
    useful  BOOLEAN NOT NULL,
    at      TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (subject, account)
);
CREATE INDEX ratings_about ON ratings (about);
CREATE INDEX ratings_persona ON ratings (persona, at);

-- What is said in a meeting belongs in the transcript too, so that its lines are all that are no notices.
DROP INDEX outbox_spoken;
CREATE INDEX outbox_spoken ON outbox (channel, position) WHERE kind <> 'notice' AND state <> 'failed' AND deleted_at IS NULL;
