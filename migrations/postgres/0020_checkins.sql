-- Who wants to be asked by direct message before the standups of a channel.
CREATE TABLE checkin_people (
    channel TEXT NOT NULL,
    -- The account of the person.
    person  TEXT NOT NULL,
    name    TEXT NOT NULL,
    since   TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (channel, person)
);

-- Who was asked before which standup: each person once for each channel and day.
CREATE TABLE checkins (
    channel    TEXT NOT NULL,
    day        TEXT NOT NULL,
    person     TEXT NOT NULL,
    name       TEXT NOT NULL,
    -- The persona that asks, to which the person answers.
    persona    TEXT NOT NULL,
    -- The row of the question in the outbox.
    post       TEXT NOT NULL,
    asked_at   TIMESTAMPTZ NOT NULL,
    -- The answers count until then.
    standup_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (channel, day, person)
);
CREATE INDEX checkins_person ON checkins (person, standup_at);
CREATE INDEX checkins_age ON checkins (standup_at);

-- What each of them answered. The text stands in the inbox alone, so that what people edit and delete there counts here.
CREATE TABLE checkin_replies (
    channel TEXT NOT NULL,
    day     TEXT NOT NULL,
    person  TEXT NOT NULL,
    -- The first message of its burst.
    message TEXT NOT NULL,
    at      TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (channel, day, person, message)
);
CREATE INDEX checkin_replies_age ON checkin_replies (at);
