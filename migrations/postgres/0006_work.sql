-- The backlog, and what the team has learnt.

CREATE TABLE work_items (
    id         TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    what       TEXT NOT NULL,
    how        TEXT NOT NULL,
    why        TEXT NOT NULL,
    -- `persona:` and a slug, or `person:` and an account.
    owner      TEXT NOT NULL,
    -- Null for a persona.
    owner_name TEXT,
    urgency    TEXT NOT NULL,
    priority   BIGINT NOT NULL,
    criteria   TEXT NOT NULL,
    status     TEXT NOT NULL,
    attempts   BIGINT NOT NULL,
    parent     TEXT,
    origin     TEXT NOT NULL,
    outcome    TEXT,
    cost       BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX work_items_status ON work_items (status, created_at);
CREATE INDEX work_items_owner ON work_items (owner, status);
CREATE INDEX work_items_parent ON work_items (parent) WHERE parent IS NOT NULL;
CREATE INDEX work_items_open ON work_items (created_at) WHERE status NOT IN ('done', 'failed', 'cancelled');

-- An item waits until each item that it needs is done.
CREATE TABLE work_dependencies (
    item     TEXT NOT NULL,
    needs    TEXT NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (item, needs)
);
CREATE INDEX work_dependencies_needs ON work_dependencies (needs);

CREATE TABLE work_events (
    position    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    item        TEXT NOT NULL,
    -- Null where the item began.
    from_status TEXT,
    to_status   TEXT NOT NULL,
    at          TIMESTAMPTZ NOT NULL
);
CREATE INDEX work_events_item ON work_events (item, position);
CREATE INDEX work_events_at ON work_events (at);

CREATE TABLE memories (
    id           TEXT PRIMARY KEY,
    kind         TEXT NOT NULL,
    -- Null for the whole team.
    persona      TEXT,
    text         TEXT NOT NULL,
    tags         TEXT NOT NULL,
    significance DOUBLE PRECISION NOT NULL,
    source       TEXT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    ended_at     TIMESTAMPTZ
);
CREATE INDEX memories_told ON memories (kind, significance, created_at) WHERE ended_at IS NULL;
