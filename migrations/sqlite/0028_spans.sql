-- Spans of long channels, summarised.
CREATE TABLE channel_spans (
    id           TEXT PRIMARY KEY,
    -- The id for people.
    short        TEXT NOT NULL,
    channel      TEXT NOT NULL,
    channel_name TEXT NOT NULL,
    -- The only place where it may be told. Null: everywhere.
    place        TEXT,
    from_at      TEXT NOT NULL,
    to_at        TEXT NOT NULL,
    messages     INTEGER NOT NULL,
    -- Empty while the summary has to be made again, because a message was changed or deleted.
    text         TEXT NOT NULL,
    -- Null: put together without a model.
    model        TEXT,
    -- It may repeat text from outside.
    outside      INTEGER NOT NULL
) STRICT;
CREATE INDEX channel_spans_of ON channel_spans (channel, to_at);
CREATE INDEX channel_spans_short ON channel_spans (short);
CREATE INDEX channel_spans_old ON channel_spans (to_at);
CREATE INDEX channel_spans_stale ON channel_spans (id) WHERE text = '';

-- The messages of a span, in their order.
CREATE TABLE channel_span_messages (
    span     TEXT NOT NULL,
    position INTEGER NOT NULL,
    message  TEXT NOT NULL,
    PRIMARY KEY (span, position)
) STRICT;
CREATE INDEX channel_span_messages_of ON channel_span_messages (message);
